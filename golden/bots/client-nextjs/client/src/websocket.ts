import { ProtobufFrameSerializer, WebSocketTransport } from "@pipecat-ai/websocket-transport";
import type { Chosen, StartAnswer } from "./connection.ts";
import { Devices } from "./devices.ts";
import { webSocketUrl } from "./settings.ts";
import { afterPress } from "./sound.ts";

export const request = { transport: "websocket" };

export const parameters = (answer: StartAnswer, startUrl: string) => ({
  wsUrl: webSocketUrl(answer.wsUrl ?? "", startUrl),
  ...(answer.token && { token: answer.token }),
});

export function createTransport(chosen: Chosen) {
  const sound = new Sound(chosen, () => sound.record());
  // The package's default media manager loads code from another host. Its other one ignores a microphone that fails.
  const options = { mediaManager: sound, serializer: new Frames() } as object;
  return new WebSocketTransport(options);
}

/** The bot also sends frames that the package does not know, and would log as errors. */
class Frames extends ProtobufFrameSerializer {
  override async deserialize(data: unknown) {
    try {
      return await super.deserialize(data);
    } catch (error) {
      if ((error as Error).message !== "Unknown frame kind") throw error;
      return { type: "raw", message: undefined } as never;
    }
  }
}

/** Samples per second of what the bot hears and says. */
const rates = { input: 16000, output: 24000 };

/** Seconds by which the bot's voice is late, so that it has no gaps. */
const delay = 0.05;

/** The microphone and the bot's voice, as samples. */
class Sound extends Devices {
  #input?: AudioContext;
  #output?: AudioContext;
  #recorder?: AudioNode;
  #source?: MediaStreamAudioSourceNode;
  #voice?: MediaStreamAudioDestinationNode;
  /** When all that the bot said so far will have been played. */
  #end = 0;
  #send: (samples: ArrayBuffer) => void = () => {};

  setUserAudioCallback(send: (samples: ArrayBuffer) => void) {
    this.#send = send;
  }

  async connect() {
    await super.connect();
    this.#output = new AudioContext({ sampleRate: rates.output });
    this.#voice = this.#output.createMediaStreamDestination();
    for (const track of this.#voice.stream.getTracks()) {
      this.callbacks.onTrackStarted?.(track, { id: "bot", name: "Bot", local: false });
    }

    this.#input = new AudioContext({ sampleRate: rates.input });
    await this.#input.audioWorklet.addModule("/recorder.js");
    const recorder = new AudioWorkletNode(this.#input, "recorder", { channelCount: 1, channelCountMode: "explicit" });
    recorder.port.addEventListener("message", ({ data }) => this.#send(data));
    recorder.port.start();
    recorder.connect(this.#input.destination); // it is silent, but would not run otherwise
    this.#recorder = recorder;
    this.record();
    for (const context of [this.#input, this.#output]) {
      if (context.state === "suspended") afterPress(() => void context.resume().catch(() => {})); // it may be closed by then
    }
  }

  /** Sends what the open microphone hears. */
  record() {
    this.#source?.disconnect();
    const { audio } = this.tracks().local;
    if (!this.#input || !this.#recorder || !audio) return;
    this.#source = this.#input.createMediaStreamSource(new MediaStream([audio]));
    this.#source.connect(this.#recorder);
  }

  /** Plays the next samples of the bot. */
  bufferBotAudio(samples: Int16Array) {
    if (!this.#output || !this.#voice) return;
    const buffer = this.#output.createBuffer(1, samples.length, rates.output);
    buffer.copyToChannel(
      Float32Array.from(samples, (sample) => sample / 32768),
      0,
    );
    const source = new AudioBufferSourceNode(this.#output, { buffer });
    source.connect(this.#voice);
    if (this.#end < this.#output.currentTime) this.#end = this.#output.currentTime + delay;
    source.start(this.#end);
    this.#end += buffer.duration;
  }

  /** The page and the package may both call it. */
  async disconnect() {
    await super.disconnect();
    const contexts = [this.#input, this.#output];
    this.#input = this.#output = undefined;
    for (const context of contexts) await context?.close();
  }
}
