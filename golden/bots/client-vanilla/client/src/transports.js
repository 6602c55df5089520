/** How to reach the bot. Each transport is loaded on demand, which keeps the page small. The first is the default. */
export const transports = {
  livekit: { label: "LiveKit", load: () => import("./livekit.js") },
};
