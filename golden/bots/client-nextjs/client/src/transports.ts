import type { Connection } from "./connection.ts";

/** How to reach the bot. Each transport is loaded on demand, which keeps the page small. The first is the default. */
export const transports: Record<string, { label: string; load: () => Promise<Connection> }> = {
  webrtc: { label: "SmallWebRTC", load: () => import("./smallwebrtc.ts") },
  daily: { label: "Daily", load: () => import("./daily.ts") },
  websocket: { label: "WebSocket", load: () => import("./websocket.ts") },
};
