/** How to reach the bot. Each transport is loaded on demand, which keeps the page small. */
import type { Transport } from "@pipecat-ai/client-js";

/** Device ids; "" means the browser's default. */
export interface Chosen {
  microphone: string;
  speaker: string;
  camera: string;
}

export interface Connection {
  /** Body of POST /start. */
  request: object;
  /** Parameters of client.connect(), from the answer. */
  parameters: (answer: StartAnswer, startUrl: string) => object;
  createTransport: (chosen: Chosen) => Transport;
  /** Packets received from the bot so far. */
  packets?: (transport: Transport) => Promise<number>;
}

/** The answer of POST /start; its fields depend on the transport. */
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
