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
  // Members of the package's manager that are missing from its types.
  declare _callbacks: RTVIEventCallbacks;
  declare _wavStreamPlayer: { updateSpeaker?: (id: string) => void };
  #chosen: Chosen;

  constructor(chosen: Chosen) {
    super(512, 16000); // chunk size in samples and sample rate of what the transport sends
    this.#chosen = chosen;
  }

  /** @throws {DOMException} from getUserMedia, if no microphone is available */
  async initialize() {
    // The package swallows the error.
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    try {
      await super.initialize();
      if (this.#chosen.microphone) await this.updateMic(this.#chosen.microphone);
      this.updateSpeaker(this.#chosen.speaker);
      // Otherwise the client opens the microphone again when it connects.
      for (const track of stream.getTracks()) this._callbacks.onMicUpdated?.(deviceOf(track));
    } finally {
      for (const track of stream.getTracks()) track.stop();
    }
  }

  /** The package treats pausing before recording starts as an error. */
  async enableMic(on: boolean) {
    await super.enableMic(on).catch(() => {});
  }

  /** The package's player supports this, but its manager does not expose it. */
  updateSpeaker(id: string) {
    this._wavStreamPlayer.updateSpeaker?.(id || "default");
  }

  /** There is no track to measure, so measure the audio as it arrives. */
  bufferBotAudio(data: ArrayBuffer | Int16Array, id?: string) {
    const samples = new Int16Array(data);
    let power = 0;
    for (const sample of samples) power += (sample / 32768) ** 2;
    this._callbacks.onRemoteAudioLevel?.(Math.sqrt(power / samples.length), { id: "bot", name: "bot", local: false });
    return super.bufferBotAudio(data, id);
  }
}
