/** How to reach the bot. Each transport is loaded on demand, which keeps the page small. The first is the default. */
export const transports = {
  webrtc: { label: "SmallWebRTC", load: () => import("./smallwebrtc.js") },
  daily: { label: "Daily", load: () => import("./daily.js") },
  websocket: { label: "WebSocket", load: () => import("./websocket.js") },
};
