/** What .env says; see .env.example. */

/** Where a session is started: the path or address of the bot's /start. */
export const startPath: string = import.meta.env.VITE_START_URL || "/start";

/** Whether microphone come from the manager that the transport's package has by default. */
export const packageMediaManager = import.meta.env.VITE_MEDIA_MANAGER === "daily";

/** Whether the bot's host is asked for STUN and TURN servers, which lead through firewalls. */
export const askForIceServers = import.meta.env.VITE_ICE_SERVERS === "default";
