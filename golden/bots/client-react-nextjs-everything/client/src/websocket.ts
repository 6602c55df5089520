import type { RTVIEventCallbacks } from "@pipecat-ai/client-js";
import { WavMediaManager, WebSocketTransport } from "@pipecat-ai/websocket-transport";
import { deviceOf } from "./devices";
import { webSocketUrl } from "./settings";
import type { Chosen, Connection } from "./transports";

export const request = { transport: "websocket" };

export const parameters: Connection["parameters"] = (answer, startUrl) => ({
  wsUrl: webSocketUrl(answer.wsUrl ?? "", startUrl),
  ...(answer.token && { token: answer.token }),
});

export const createTransport: Connection["createTransport"] = (chosen) =>
  new WebSocketTransport({ mediaManager: new Sound(chosen) });

/** Microphone and speaker. The package's default manager loads code from another host. */
class Sound extends WavMediaManager {
  // What the package's manager has, and its types leave out.
  declare _callbacks: RTVIEventCallbacks;
  declare _wavStreamPlayer: { updateSpeaker?: (id: string) => void };
  #chosen: Chosen;

  constructor(chosen: Chosen) {
    super(512, 16000); // samples at a time, samples a second: what the transport sends
    this.#chosen = chosen;
  }

  /** @throws {DOMException} of getUserMedia, when there is no microphone to use */
  async initialize() {
    // The package keeps that to itself.
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    try {
      await super.initialize();
      if (this.#chosen.microphone) await this.updateMic(this.#chosen.microphone);
      this.updateSpeaker(this.#chosen.speaker);
      // Without this the client takes the microphone for unopened, and opens it again when it connects.
      for (const track of stream.getTracks()) this._callbacks.onMicUpdated?.(deviceOf(track));
    } finally {
      for (const track of stream.getTracks()) track.stop();
    }
  }

  /** For the package it is an error to pause a recording before it begins. */
  async enableMic(on: boolean) {
    await super.enableMic(on).catch(() => {});
  }

  /** The package's player can do it, and its manager does not pass it on. */
  updateSpeaker(id: string) {
    this._wavStreamPlayer.updateSpeaker?.(id || "default");
  }

  /** There is no track to measure: what arrives is what is heard. */
  bufferBotAudio(data: ArrayBuffer | Int16Array, id?: string) {
    const samples = new Int16Array(data);
    let power = 0;
    for (const sample of samples) power += (sample / 32768) ** 2;
    this._callbacks.onRemoteAudioLevel?.(Math.sqrt(power / samples.length), { id: "bot", name: "bot", local: false });
    return super.bufferBotAudio(data, id);
  }
}
