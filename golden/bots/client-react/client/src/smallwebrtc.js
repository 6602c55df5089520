// @ts-check
import { DeviceError } from "@pipecat-ai/client-js";
import { SmallWebRTCTransport, WavMediaManager } from "@pipecat-ai/small-webrtc-transport";
import { deviceOf } from "./connection.js";
import { askForIceServers, packageMediaManager } from "./settings.js";

export const request = { transport: "webrtc", enableDefaultIceServers: askForIceServers };

/** @type {import("./connection.js").Connection["parameters"]} */
export const parameters = (answer, startUrl) => ({
  iceConfig: answer.iceConfig,
  webrtcRequestParams: {
    endpoint: startUrl.replace(/start$/, `sessions/${answer.sessionId}/api/offer`),
  },
});

/** @type {import("./connection.js").Connection["createTransport"]} */
export function createTransport(chosen) {
  if (packageMediaManager) return new SmallWebRTCTransport();
  const media = new BrowserMedia(chosen);
  const transport = new SmallWebRTCTransport({ mediaManager: media });
  media.onNewTrack = () => {
    // With other media managers the package does not replace the track on the connection.
    // @ts-ignore: the method is missing from its types
    if (transport.state === "ready") void transport.addUserMedia();
  };
  return transport;
}

/**
 * The bot sends audio continuously, even silence.
 *
 * @type {NonNullable<import("./connection.js").Connection["packets"]>}
 */
export async function packets(transport) {
  let sum = 0;
  // @ts-ignore: the connection is missing from its types
  const stats = await transport.pc?.getStats();
  stats?.forEach((/** @type {any} */ report) => (sum += report.type === "inbound-rtp" ? report.packetsReceived : 0));
  return sum;
}

/** @typedef {"audio" | "video"} Kind */

const me = { id: "local", name: "", local: true };

/**
 * The microphone, opened without code from other hosts.
 *
 * The package's default manager loads code from another host. This class extends its other manager, which
 * has no camera, swallows microphone errors and never passes a new microphone to the connection.
 */
class BrowserMedia extends WavMediaManager {
  /** @type {Partial<Record<Kind, MediaStreamTrack>>} */
  #local = {};
  /** @type {Record<Kind, string>} */
  #chosen;
  onNewTrack = () => {};
  // Set by the package's manager when the client starts; missing from its types.
  /** @type {import("@pipecat-ai/client-js").RTVIEventCallbacks} */
  _callbacks = {};
  _micEnabled = true;
  _camEnabled = false;

  /** @param {import("./connection.js").Chosen} chosen */
  constructor(chosen) {
    super();
    this.#chosen = { audio: chosen.microphone, video: chosen.camera };
  }

  /** @throws {DOMException} from getUserMedia, if no microphone is available */
  async initialize() {
    await this.#open("audio");
  }

  async connect() {
    if (!this.#local.audio) await this.initialize();
  }

  async disconnect() {
    this.#close("audio");
  }

  tracks() {
    return { local: { ...this.#local } };
  }

  async enableMic(/** @type {boolean} */ on) {
    this._micEnabled = on;
    if (this.#local.audio) this.#local.audio.enabled = on;
  }

  async updateMic(/** @type {string} */ id) {
    this.#chosen.audio = id;
    if (this.#local.audio) await this.#reopen("audio");
  }

  /** Opens a device during a session and reports a failure through the callbacks. */
  async #reopen(/** @type {Kind} */ kind) {
    try {
      await this.#open(kind);
      this.onNewTrack();
    } catch (error) {
      const sourceError = /** @type {Error} */ (error);
      const device = kind === "audio" ? "mic" : "cam";
      this._callbacks.onDeviceError?.(new DeviceError([device], "unknown", sourceError.message, { sourceError }));
    }
  }

  /** Replaces the open device with the chosen one. */
  async #open(/** @type {Kind} */ kind) {
    const id = this.#chosen[kind];
    const { mediaDevices } = navigator;
    const stream = await mediaDevices.getUserMedia({ [kind]: id ? { deviceId: { exact: id } } : true });
    this.#close(kind);
    for (const track of stream.getTracks()) {
      if (kind === "audio") track.enabled = this._micEnabled;
      this.#local[kind] = track;
      // Unplugged: switch to another device.
      track.addEventListener("ended", () => {
        this.#chosen[kind] = "";
        void this.#reopen(kind);
      });
      // Otherwise the client opens the device again when it connects.
      this._callbacks[kind === "audio" ? "onMicUpdated" : "onCamUpdated"]?.(deviceOf(track));
      this._callbacks.onTrackStarted?.(track, me);
    }
  }

  #close(/** @type {Kind} */ kind) {
    const track = this.#local[kind];
    if (!track) return;
    track.stop();
    delete this.#local[kind];
    this._callbacks.onTrackStopped?.(track, me);
  }
}
