/** Settings from .env; see .env.example. */

/** Where sessions start: the path or URL of the bot's /start. */
export const startPath: string = import.meta.env.VITE_START_URL || "/start";

/** Whether to ask the bot's host for STUN and TURN servers, which help behind firewalls. */
export const askForIceServers = import.meta.env.VITE_ICE_SERVERS === "default";
