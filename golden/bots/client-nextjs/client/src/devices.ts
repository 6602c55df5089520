import { DeviceError, type PipecatClientOptions, type RTVIEventCallbacks } from "@pipecat-ai/client-js";
import { type Chosen, deviceOf } from "./connection.ts";
import { insecure } from "./problems.ts";

type Kind = "audio" | "video";

const me = { id: "local", name: "", local: true };

const list = async (kind: MediaDeviceKind) =>
  ((await navigator.mediaDevices?.enumerateDevices()) ?? []).filter((device) => device.kind === kind);

/** The microphone and the camera, opened without code from other hosts. */
export class Devices {
  #local: Partial<Record<Kind, MediaStreamTrack>> = {};
  /** What goes out while no microphone is open, because bots wait for sound; made when it is needed. */
  #quiet?: AudioContext;
  #silence?: MediaStreamTrack;
  #chosen: Record<Kind, string>;
  /** What follows when the screen is no longer shared. */
  #camera: string;
  #on = { audio: true, video: false };
  /** Stands for the last request of each kind: those before it, and all at the end of a session, no longer count. */
  #wanted = { audio: {}, video: {} };
  /** The session is over: nothing is opened any more. */
  #ended = false;
  callbacks: RTVIEventCallbacks = {};
  #changed: () => void;
  supportsScreenShare = false;
  isSharingScreen = false;
  /** The page plays the audio itself, on the chosen speaker. */
  selectedSpeaker = {};

  /** Calls `changed` when a device was opened, closed or muted during a session. */
  constructor(chosen: Chosen, changed: () => void) {
    this.#chosen = { audio: chosen.microphone, video: chosen.camera };
    this.#camera = chosen.camera;
    this.#changed = changed;
  }

  setClientOptions(options: PipecatClientOptions) {
    this.callbacks = options.callbacks ?? {};
    this.#on = { audio: options.enableMic ?? true, video: options.enableCam ?? false };
  }

  /** Opens what there is: a conversation works without a camera, and without a microphone it is typed. */
  async initialize() {
    await this.#reopen("audio");
    if (this.#on.video) await this.#reopen("video");
  }

  async connect() {
    if (!this.tracks().local.audio) await this.initialize();
  }

  async disconnect() {
    this.#ended = true;
    this.#close("audio");
    this.#close("video");
    this.#silence = undefined;
    await this.#quiet?.close().catch(() => {}); // the page and a package may both disconnect
  }

  tracks() {
    const { audio = this.#silence, video } = this.#local;
    return { local: { ...(audio && { audio }), ...(video && { video }) } };
  }

  getAllMics = () => list("audioinput");
  getAllCams = () => list("videoinput");
  getAllSpeakers = () => list("audiooutput");

  get selectedMic() {
    return this.#local.audio ? deviceOf(this.#local.audio) : {};
  }

  get selectedCam() {
    return this.#local.video ? deviceOf(this.#local.video) : {};
  }

  updateSpeaker() {}

  enableScreenShare() {}

  get isMicEnabled() {
    return this.#on.audio;
  }

  enableMic(on: boolean) {
    this.#on.audio = on;
    if (!this.#local.audio) return;
    this.#local.audio.enabled = on;
    this.#changed();
  }

  async updateMic(id: string) {
    this.#chosen.audio = id;
    await this.#reopen("audio");
  }

  get isCamEnabled() {
    return this.#on.video;
  }

  async enableCam(on: boolean) {
    this.#on.video = on;
    if (this.#chosen.video !== "screen") await this.#renew("video");
  }

  async updateCam(id: string) {
    if (id !== "screen") this.#camera = id;
    this.#chosen.video = id;
    await this.#renew("video");
  }

  /** Opens what is on, and closes what is off. */
  async #renew(kind: Kind) {
    if (kind === "audio" || this.#on.video || this.#chosen.video === "screen") return this.#reopen(kind);
    this.#close(kind);
    this.#changed();
  }

  /** Opens a device. If that fails, reports it through the callbacks and keeps the open one. */
  async #reopen(kind: Kind) {
    try {
      await this.#open(kind);
      this.#changed();
    } catch (error) {
      const open = this.#local[kind];
      const failed = this.#chosen[kind];
      this.#chosen[kind] = open ? deviceOf(open).deviceId : failed === "screen" ? this.#camera : "";
      if (failed === "screen") return; // the person chose no window
      if (kind === "video" && !open) this.#on.video = false;
      if (kind === "audio" && !open && !this.#silence) {
        this.#quiet = new AudioContext();
        this.#silence = this.#quiet.createMediaStreamDestination().stream.getAudioTracks()[0];
        this.#changed();
      }
      const sourceError = error as Error;
      const device = kind === "audio" ? "mic" : "cam";
      this.callbacks.onDeviceError?.(new DeviceError([device], "unknown", sourceError.message, { sourceError }));
    }
  }

  /** Replaces the open device with the chosen one. */
  async #open(kind: Kind) {
    if (this.#ended) return;
    const wanted = (this.#wanted[kind] = {});
    const outdated = () => this.#wanted[kind] !== wanted;
    const id = this.#chosen[kind];
    const { mediaDevices } = navigator;
    if (!mediaDevices) throw insecure;
    const asked = { [kind]: id ? { deviceId: { exact: id } } : true };
    const opening = id === "screen" ? mediaDevices.getDisplayMedia() : mediaDevices.getUserMedia(asked);
    const stream = await opening.catch((error) => {
      if (!outdated()) throw error;
    });
    if (!stream) return;
    if (outdated()) return stream.getTracks().forEach((track) => track.stop());
    this.#close(kind);
    for (const track of stream.getTracks()) {
      if (kind === "audio") track.enabled = this.#on.audio;
      this.#local[kind] = track;
      // Unplugged, or no longer shared: switch to another device.
      track.addEventListener("ended", () => {
        this.#chosen[kind] = id === "screen" ? this.#camera : "";
        this.#close(kind);
        void this.#renew(kind);
      });
      // Otherwise the client opens the device again when it connects.
      this.callbacks[kind === "audio" ? "onMicUpdated" : "onCamUpdated"]?.(deviceOf(track));
      this.callbacks.onTrackStarted?.(track, me);
    }
  }

  #close(kind: Kind) {
    this.#wanted[kind] = {};
    const track = this.#local[kind];
    if (!track) return;
    track.stop();
    delete this.#local[kind];
    this.callbacks.onTrackStopped?.(track, me);
  }
}
