"""Writes a model like Llama 3.2 3B with random weights: write_weights.py SMALLER_MODEL FILE

It needs as much time for a token, and as much memory, as the real model in Ollama (Q4_K_M, 2 GB).
The text that it writes is meaningless. Its tokens are those of the smaller model, which needs about
as many for a sentence, and some unused ones. It runs in an environment with the package gguf.
"""

import sys
from collections.abc import Iterator

import numpy as np
from gguf import GGUFReader, GGUFWriter, TokenType
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

LAYERS, WIDTH, INNER, HEADS, KV_HEADS, TOKENS = 28, 3072, 8192, 24, 8, 128_256
KV_WIDTH = KV_HEADS * WIDTH // HEADS
F32, Q4, Q6 = (GGMLQuantizationType[name] for name in ("F32", "Q4_K", "Q6_K"))
STEP = 0.004  # between neighbouring weights of four bits, which makes their deviation 1/sqrt(WIDTH)
# Numbers that decide how large all others get are not random: else they would become infinite.
SCALE_Q4 = np.float16(STEP / 32).tobytes()
SCALE_Q6 = np.float16(STEP / 4 / 16).tobytes()
SCALES_32 = bytes([0xA0] * 8 + [0] * 4)  # 32 eight times, and again for the offsets: of six bits

generator = np.random.default_rng(1)


def tensors() -> Iterator[tuple[str, tuple[int, ...], GGMLQuantizationType]]:
    """The name, the shape and the type of each."""
    yield "token_embd.weight", (TOKENS, WIDTH), Q6  # it turns words into numbers, and back
    yield "output_norm.weight", (WIDTH,), F32
    for n in range(LAYERS):
        # Half of the layers get more bits where it matters most, the first and the last among them.
        more = n < LAYERS // 8 or n >= 7 * LAYERS // 8 or (n - LAYERS // 8) % 3 == 2
        yield f"blk.{n}.attn_norm.weight", (WIDTH,), F32
        yield f"blk.{n}.attn_q.weight", (WIDTH, WIDTH), Q4
        yield f"blk.{n}.attn_k.weight", (KV_WIDTH, WIDTH), Q4
        yield f"blk.{n}.attn_v.weight", (KV_WIDTH, WIDTH), Q6 if more else Q4
        yield f"blk.{n}.attn_output.weight", (WIDTH, WIDTH), Q4
        yield f"blk.{n}.ffn_norm.weight", (WIDTH,), F32
        yield f"blk.{n}.ffn_gate.weight", (INNER, WIDTH), Q4
        yield f"blk.{n}.ffn_up.weight", (INNER, WIDTH), Q4
        yield f"blk.{n}.ffn_down.weight", (WIDTH, INNER), Q6 if more else Q4


def stored_shape(shape: tuple[int, ...], kind: GGMLQuantizationType) -> tuple[int, ...]:
    """The shape of an array of bytes that holds such weights."""
    weights, size = GGML_QUANT_SIZES[kind]
    return (*shape[:-1], shape[-1] // weights * size)


def values(shape: tuple[int, ...], kind: GGMLQuantizationType) -> np.ndarray:
    """Ones, or random weights around zero."""
    if kind is F32:
        return np.ones(shape, np.float32)
    stored = stored_shape(shape, kind)
    blocks = np.frombuffer(generator.bytes(int(np.prod(stored))), np.uint8).copy()
    blocks = blocks.reshape(-1, GGML_QUANT_SIZES[kind][1])
    if kind is Q4:
        # The offset is the mean, 7.5 steps. What follows are multiples of both.
        offset = np.float16(7.5 * STEP / 32).tobytes()
        blocks[:, :16] = np.frombuffer(SCALE_Q4 + offset + SCALES_32, np.uint8)
    else:
        blocks[:, 192:] = np.frombuffer(bytes([16] * 16) + SCALE_Q6, np.uint8)
    return blocks.reshape(stored)


def write(smaller: str, file: str) -> None:
    source = {name: field.contents for name, field in GGUFReader(smaller).fields.items()}
    writer = GGUFWriter(file, "llama")
    writer.add_context_length(131_072)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(500_000)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(TOKENS)
    writer.add_file_type(15)  # Q4_K_M
    tokens = source["tokenizer.ggml.tokens"]()
    types = source["tokenizer.ggml.token_type"]()
    unused = TOKENS - len(tokens)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(source["tokenizer.ggml.pre"]())
    writer.add_token_list([*tokens, *(f"<unused {n}>" for n in range(unused))])
    writer.add_token_types([*types, *[TokenType.UNUSED] * unused])
    writer.add_token_merges(source["tokenizer.ggml.merges"]())
    writer.add_bos_token_id(source["tokenizer.ggml.bos_token_id"]())
    writer.add_eos_token_id(source["tokenizer.ggml.eos_token_id"]())
    writer.add_add_bos_token(False)
    for name, shape, kind in tensors():
        dtype = np.dtype(np.float32 if kind is F32 else np.uint8)
        stored = shape if kind is F32 else stored_shape(shape, kind)
        size = int(np.prod(stored)) * dtype.itemsize
        writer.add_tensor_info(name, stored, dtype, size, None if kind is F32 else kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for _, shape, kind in tensors():
        writer.write_tensor_data(values(shape, kind))
    writer.close()


if __name__ == "__main__":
    write(*sys.argv[1:])
