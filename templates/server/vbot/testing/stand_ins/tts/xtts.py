"""https://github.com/coqui-ai/xtts-streaming-server"""

import os

from aiohttp import web

from vbot.testing.stand_in import Service


class XTTSServer(Service):
    """Text to speech on one's own machine, one request for each sentence, at 24 kHz."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/studio_speakers":
            voice = os.getenv("XTTS_VOICE_ID", "").strip() or "test-xtts-voice-id"
            embeddings = {"speaker_embedding": [0.0], "gpt_cond_latent": [[0.0]]}
            return web.json_response({voice: embeddings})
        self.expect(request.path == "/tts_stream", "no such path")
        body = await request.json()
        self.expect(body.get("text") and body.get("language"), "no text or language")
        self.expect(body["speaker_embedding"] and body["gpt_cond_latent"], "no voice")
        self.expect(body.get("add_wav_header") is False, "not asked for samples")
        self.requests.append(body)
        pcm = self.script.voice(body["text"].strip(), 24000)
        return web.Response(body=pcm, content_type="audio/pcm")
