/** Settings from .env; see .env.example. */

/** Where sessions start: app/api/[...path]/route.ts. */
export const startPath = "/api/start";

/** Whether to ask the bot's host for STUN and TURN servers, which help behind firewalls. */
export const askForIceServers = process.env.NEXT_PUBLIC_ICE_SERVERS === "default";

/** The URL as answered; app/api/[...path]/route.ts has corrected it. */
export const webSocketUrl = (answered: string, _startUrl: string) => answered;
