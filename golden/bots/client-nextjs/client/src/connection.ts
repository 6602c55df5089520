/** What a transport has to provide, and what it may use. transports.ts lists the transports. */
import type { Transport } from "@pipecat-ai/client-js";

/** What the module of a transport exports. */
export interface Connection {
  /** The body of POST /start. */
  request: object;
  /** Of client.connect(). */
  parameters: (answer: StartAnswer, startUrl: string) => object;
  createTransport: (chosen: Chosen) => Transport;
  /** How many were received so far. */
  packets?: (transport: Transport) => Promise<number>;
  /** Whether client.updateCam("screen") shows the screen in place of the camera. */
  sharesScreen?: boolean;
}

/** Of POST /start; its fields depend on the transport. */
export interface StartAnswer {
  sessionId?: string;
  iceConfig?: RTCConfiguration;
  dailyRoom?: string;
  dailyToken?: string;
  wsUrl?: string;
  token?: string;
}

/** Device ids; "" means the browser's default. */
export interface Chosen {
  microphone: string;
  speaker: string;
  camera: string;
}

/** The device that a track comes from. */
export function deviceOf(track: MediaStreamTrack): MediaDeviceInfo {
  const { deviceId = "", groupId = "" } = track.getSettings();
  const kind: MediaDeviceKind = track.kind === "audio" ? "audioinput" : "videoinput";
  const device = { deviceId, groupId, kind, label: track.label };
  return { ...device, toJSON: () => device };
}
