import { RTVIMessage, Transport } from "@pipecat-ai/client-js";
import {
  ConnectionError,
  ConnectionErrorReason,
  ConnectionState,
  LocalAudioTrack,
  LocalVideoTrack,
  Room,
  RoomEvent,
  Track,
} from "livekit-client";

import { Devices } from "./devices.js";
import { roomProblem } from "./problems.js";

export const request = { transport: "livekit" };

export const sharesScreen = true;

export const parameters = ({ url, token }) => ({ url, token });

export const createTransport = (chosen) => new LiveKitTransport(chosen);

/** Even a silent bot sends a packet now and then. */
export const packets = (transport) => transport.packets();

/** A room of a LiveKit server, which the bot joins too. RTVI messages are data packets in JSON. */
class LiveKitTransport extends Transport {
  _state = "disconnected";
  #room = new Room();
  #devices;
  #publishing = Promise.resolve();

  constructor(chosen) {
    super();
    this.#devices = new Devices(chosen, () => {
      if (this.#room.state === ConnectionState.Connected) void this.#publish();
    });
  }

  initialize(options, receive) {
    this._options = options;
    this._callbacks = options.callbacks ?? {};
    this._onMessage = receive;
    this.#devices.setClientOptions(options);
    const decoder = new TextDecoder();
    this.#room
      .on(RoomEvent.DataReceived, (data, from) => {
        if (from?.isAgent) receive(JSON.parse(decoder.decode(data)));
      })
      .on(RoomEvent.TrackSubscribed, ({ mediaStreamTrack }, _, from) => {
        if (from.isAgent) this._callbacks.onTrackStarted?.(mediaStreamTrack, person(from));
      })
      .on(RoomEvent.TrackUnsubscribed, ({ mediaStreamTrack }, _, from) => {
        if (from.isAgent) this._callbacks.onTrackStopped?.(mediaStreamTrack, person(from));
      })
      .on(RoomEvent.ParticipantDisconnected, (from) => {
        // While the room reconnects, everybody is gone for a moment.
        setTimeout(() => {
          const { state } = this.#room;
          if (from.isAgent && state === ConnectionState.Connected && !this.#bot)
            this._callbacks.onBotDisconnected?.(person(from));
        });
      })
      .on(RoomEvent.Reconnected, () => void this.#publish())
      .on(RoomEvent.Disconnected, () => {
        if (this.state === "connecting") return; // connect throws an error that says more
        this.state = "disconnected";
        this._callbacks.onDisconnected?.();
      });
  }

  async initDevices() {
    this.state = "initializing";
    await this.#devices.initialize();
    this.state = "initialized";
  }

  _validateConnectionParams(given) {
    return given;
  }

  async _connect({ url, token }) {
    this.state = "connecting";
    try {
      await this.#room.connect(url, token);
    } catch (error) {
      throw roomProblem(url, error instanceof ConnectionError && error.reason === ConnectionErrorReason.NotAllowed);
    }
    this.state = "connected";
    this._callbacks.onConnected?.();
    await Promise.all([this.#publish(), this.#botJoined()]);
  }

  get #bot() {
    return [...this.#room.remoteParticipants.values()].find((other) => other.isAgent);
  }

  /** Waits until the bot can receive messages. */
  async #botJoined() {
    while (!this.#bot) await new Promise((resolve) => this.#room.once(RoomEvent.ParticipantConnected, resolve));
    await this.#bot.waitUntilActive();
  }

  /** Publishes the open devices, and nothing else. */
  #publish() {
    const publish = async () => {
      const { audio, video } = this.#devices.tracks().local;
      await this.#put(Track.Source.Microphone, audio, !this.#devices.isMicEnabled);
      await this.#put(Track.Source.Camera, video, false);
    };
    return (this.#publishing = this.#publishing.then(publish, publish));
  }

  /** Muted is LiveKit's own state: without it, publishing turns a muted microphone on. */
  async #put(source, open, muted) {
    const { localParticipant } = this.#room;
    const published = localParticipant.getTrackPublication(source)?.track;
    if (!open) {
      if (published) await localParticipant.unpublishTrack(published);
      return;
    }
    // If one track followed another, the bot would hear neither, so a new device uses the same track.
    if (published) await published.replaceTrack(open);
    const track = published ?? (open.kind === "audio" ? new LocalAudioTrack(open) : new LocalVideoTrack(open));
    await (muted ? track.mute() : track.unmute());
    if (!published) await localParticipant.publishTrack(track, { source, simulcast: false });
  }

  sendReadyMessage() {
    this.state = "ready";
    this.sendMessage(RTVIMessage.clientReady());
  }

  sendMessage(message) {
    const data = new TextEncoder().encode(JSON.stringify(message));
    void this.#room.localParticipant.publishData(data, { reliable: true });
  }

  async _disconnect() {
    this.state = "disconnecting";
    await this.#devices.disconnect();
    await this.#room.disconnect();
    this.state = "disconnected";
  }

  /** Packets of audio that came from the bot so far. */
  async packets() {
    let sum = 0;
    for (const { track } of this.#bot?.getTrackPublications() ?? []) {
      const stats = await track?.getRTCStatsReport();
      stats?.forEach((report) => (sum += report.type === "inbound-rtp" ? report.packetsReceived : 0));
    }
    return sum;
  }

  get state() {
    return this._state;
  }

  set state(state) {
    if (this._state === state) return;
    this._state = state;
    this._callbacks.onTransportStateChanged?.(state);
  }

  tracks = () => this.#devices.tracks();
  getAllMics = () => this.#devices.getAllMics();
  getAllCams = () => this.#devices.getAllCams();
  getAllSpeakers = () => this.#devices.getAllSpeakers();
  updateMic = (id) => this.#devices.updateMic(id);
  updateCam = (id) => this.#devices.updateCam(id);
  updateSpeaker = () => this.#devices.updateSpeaker();
  enableMic = (on) => this.#devices.enableMic(on);
  enableCam = (on) => this.#devices.enableCam(on);
  enableScreenShare = () => this.#devices.enableScreenShare();

  get selectedMic() {
    return this.#devices.selectedMic;
  }

  get selectedCam() {
    return this.#devices.selectedCam;
  }

  get selectedSpeaker() {
    return this.#devices.selectedSpeaker;
  }

  get isMicEnabled() {
    return this.#devices.isMicEnabled;
  }

  get isCamEnabled() {
    return this.#devices.isCamEnabled;
  }

  get isSharingScreen() {
    return this.#devices.isSharingScreen;
  }
}

const person = ({ identity, name }) => ({
  id: identity,
  name: name ?? "",
  local: false,
});
