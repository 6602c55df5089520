/** How to reach the bot. What a connection needs is loaded when it is chosen, so that the page itself stays small. */
import type { Transport } from "@pipecat-ai/client-js";

/** Ids of devices; "" is the browser's own choice. */
export interface Chosen {
  microphone: string;
  speaker: string;
  camera: string;
}

export interface Connection {
  /** What POST /start is asked for. */
  request: object;
  /** What client.connect() makes of the answer. */
  parameters: (answer: StartAnswer, startUrl: string) => object;
  createTransport: (chosen: Chosen) => Transport;
  /** How many packets came from the bot so far. */
  packets?: (transport: Transport) => Promise<number>;
}

/** What the bot's host says of the session; which of it is there depends on the transport. */
export interface StartAnswer {
  sessionId?: string;
  iceConfig?: { iceServers?: RTCIceServer[] };
  dailyRoom?: string;
  dailyToken?: string;
  wsUrl?: string;
  token?: string | null;
}

export const transports = {
  webrtc: { label: "SmallWebRTC", load: (): Promise<Connection> => import("./smallwebrtc") },
  daily: { label: "Daily", load: (): Promise<Connection> => import("./daily") },
  websocket: { label: "WebSocket", load: (): Promise<Connection> => import("./websocket") },
};

export type TransportName = keyof typeof transports;
