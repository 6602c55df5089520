/** What the page takes from .env; see .env.example. */

/** Where a session is started: app/api/[...path]/route.ts. */
export const startPath = "/api/start";

/** Whether microphone and camera come from the manager that the transport's package has by default. */
export const packageMediaManager = process.env.NEXT_PUBLIC_MEDIA_MANAGER === "daily";

/** Whether the bot's host is asked for STUN and TURN servers, which lead through firewalls. */
export const askForIceServers = process.env.NEXT_PUBLIC_ICE_SERVERS === "default";

/** The address as it was answered: app/api/[...path]/route.ts has corrected it. */
export const webSocketUrl: (answered: string, startUrl: string) => string = (answered) => answered;
