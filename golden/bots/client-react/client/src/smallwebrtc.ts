import { DeviceError, type RTVIEventCallbacks } from "@pipecat-ai/client-js";
import { SmallWebRTCTransport, WavMediaManager } from "@pipecat-ai/small-webrtc-transport";
import { deviceOf } from "./devices";
import { askForIceServers, packageMediaManager } from "./settings";
import type { Chosen, Connection } from "./transports";

export const request = { transport: "webrtc", enableDefaultIceServers: askForIceServers };

export const parameters: Connection["parameters"] = (answer, startUrl) => ({
  iceConfig: answer.iceConfig,
  webrtcRequestParams: {
    endpoint: startUrl.replace(/start$/, `sessions/${answer.sessionId}/api/offer`),
  },
});

export const createTransport: Connection["createTransport"] = (chosen) => {
  if (packageMediaManager) return new SmallWebRTCTransport();
  const media = new BrowserMedia(chosen);
  const transport = new SmallWebRTCTransport({ mediaManager: media });
  media.onNewTrack = () => {
    // The package replaces the track only with its default manager. The method is missing from its types.
    if (transport.state === "ready") void (transport as unknown as { addUserMedia(): Promise<void> }).addUserMedia();
  };
  return transport;
};

/** The bot sends audio continuously, even silence. */
export const packets: Connection["packets"] = async (transport) => {
  let sum = 0;
  const { pc } = transport as unknown as { pc: RTCPeerConnection | null }; // missing from its types
  const stats = await pc?.getStats();
  stats?.forEach((report: RTCInboundRtpStreamStats) => {
    if (report.type === "inbound-rtp") sum += report.packetsReceived ?? 0;
  });
  return sum;
};

type Kind = "audio" | "video";

const me = { id: "local", name: "", local: true };

/**
 * The microphone, opened without code from other hosts.
 *
 * The package's default manager loads code from another host. This class extends its other manager, which
 * has no camera, swallows microphone errors and never passes a new microphone to the connection.
 */
class BrowserMedia extends WavMediaManager {
  // Set by the package's manager when the client starts; missing from its types.
  declare _callbacks: RTVIEventCallbacks;
  declare _micEnabled: boolean;
  declare _camEnabled: boolean;
  onNewTrack = () => {};
  #local: Partial<Record<Kind, MediaStreamTrack>> = {};
  #chosen: Record<Kind, string>;

  constructor(chosen: Chosen) {
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

  async enableMic(on: boolean) {
    this._micEnabled = on;
    if (this.#local.audio) this.#local.audio.enabled = on;
  }

  async updateMic(id: string) {
    this.#chosen.audio = id;
    if (this.#local.audio) await this.#reopen("audio");
  }

  /** Opens a device during a session and reports a failure through the callbacks. */
  async #reopen(kind: Kind) {
    try {
      await this.#open(kind);
      this.onNewTrack();
    } catch (error) {
      const sourceError = error as Error;
      const device = kind === "audio" ? "mic" : "cam";
      this._callbacks.onDeviceError?.(new DeviceError([device], "unknown", sourceError.message, { sourceError }));
    }
  }

  /** Replaces the open device with the chosen one. */
  async #open(kind: Kind) {
    const id = this.#chosen[kind];
    const stream = await navigator.mediaDevices.getUserMedia({ [kind]: id ? { deviceId: { exact: id } } : true });
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

  #close(kind: Kind) {
    const track = this.#local[kind];
    if (!track) return;
    track.stop();
    delete this.#local[kind];
    this._callbacks.onTrackStopped?.(track, me);
  }
}
