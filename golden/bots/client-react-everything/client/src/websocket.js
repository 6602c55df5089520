// @ts-check
import { WavMediaManager, WebSocketTransport } from "@pipecat-ai/websocket-transport";
import { deviceOf } from "./connection.js";
import { webSocketUrl } from "./settings.js";

export const request = { transport: "websocket" };

/** @type {import("./connection.js").Connection["parameters"]} */
export const parameters = (answer, startUrl) => ({
  wsUrl: webSocketUrl(answer.wsUrl, startUrl),
  ...(answer.token && { token: answer.token }),
});

/** @type {import("./connection.js").Connection["createTransport"]} */
export const createTransport = (chosen) => new WebSocketTransport({ mediaManager: new Sound(chosen) });

/** Microphone and speaker. The package's default manager loads code from another host. */
class Sound extends WavMediaManager {
  /** @type {import("./connection.js").Chosen} */
  #chosen;
  /** @type {Promise<void> | undefined} */
  #closing;

  /** @param {import("./connection.js").Chosen} chosen */
  constructor(chosen) {
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
      if (this.#chosen.speaker) this.updateSpeaker(this.#chosen.speaker);
      // Otherwise the client opens the microphone again when it connects.
      for (const track of stream.getTracks()) this._callbacks.onMicUpdated?.(deviceOf(track));
    } finally {
      for (const track of stream.getTracks()) track.stop();
    }
  }

  /** The page and the package may both close it; twice is an error of the package. */
  disconnect() {
    return (this.#closing ??= super.disconnect());
  }

  async enableMic(/** @type {boolean} */ on) {
    // The package treats pausing before recording starts as an error.
    await super.enableMic(on).catch(() => {});
  }

  updateSpeaker(/** @type {string} */ id) {
    // @ts-ignore: the package's player can do it, and its manager does not pass it on
    this._wavStreamPlayer.updateSpeaker?.(id || "default");
  }

  /** There is no track to measure, so measure the audio as it arrives. */
  bufferBotAudio(/** @type {ArrayBuffer | Int16Array} */ data, /** @type {string | undefined} */ id) {
    const samples = new Int16Array(data);
    let power = 0;
    for (const sample of samples) power += (sample / 32768) ** 2;
    this._callbacks.onRemoteAudioLevel?.(Math.sqrt(power / samples.length), { id: "bot", name: "bot", local: false });
    return super.bufferBotAudio(data, id);
  }
}
