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
    // The package puts a new track on the connection with its default manager only; the method is not in its types.
    if (transport.state === "ready") void (transport as unknown as { addUserMedia(): Promise<void> }).addUserMedia();
  };
  return transport;
};

/** The bot sends sound without a break, be it silence. */
export const packets: Connection["packets"] = async (transport) => {
  let sum = 0;
  const { pc } = transport as unknown as { pc: RTCPeerConnection | null }; // which is not in its types
  const stats = await pc?.getStats();
  stats?.forEach((report: RTCInboundRtpStreamStats) => {
    if (report.type === "inbound-rtp") sum += report.packetsReceived ?? 0;
  });
  return sum;
};

type Kind = "audio" | "video";

const me = { id: "local", name: "", local: true };

/**
 * The microphone, from nobody but the browser.
 *
 * The package's default manager loads code from another host. This one extends the other manager that it has, which
 * knows no camera, tells nobody why there is no microphone, and never lets the connection know of another one.
 */
class BrowserMedia extends WavMediaManager {
  // What the package's manager fills in when the client begins; its types leave it out.
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

  /** @throws {DOMException} of getUserMedia, when there is no microphone to use */
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

  /** Opens a device during a session, where nobody waits to hear that it failed. */
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

  /** Opens the chosen device in place of the one before. */
  async #open(kind: Kind) {
    const id = this.#chosen[kind];
    const stream = await navigator.mediaDevices.getUserMedia({ [kind]: id ? { deviceId: { exact: id } } : true });
    this.#close(kind);
    for (const track of stream.getTracks()) {
      if (kind === "audio") track.enabled = this._micEnabled;
      this.#local[kind] = track;
      // Unplugged: another one takes its place.
      track.addEventListener("ended", () => {
        this.#chosen[kind] = "";
        void this.#reopen(kind);
      });
      // Without this the client takes the device for unopened, and opens it again when it connects.
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
