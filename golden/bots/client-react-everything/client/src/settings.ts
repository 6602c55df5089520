/** What .env says; see .env.example. */

/** Where a session is started: the path or address of the bot's /start. */
export const startPath: string = import.meta.env.VITE_START_URL || "/start";

/** Whether microphone and camera come from the manager that the transport's package has by default. */
export const packageMediaManager = import.meta.env.VITE_MEDIA_MANAGER === "daily";

/** Whether the bot's host is asked for STUN and TURN servers, which lead through firewalls. */
export const askForIceServers = import.meta.env.VITE_ICE_SERVERS === "default";

/** The bot names itself as it sees itself. The page reaches it where it reached /start. */
export function webSocketUrl(answered: string, startUrl: string): string {
  const url = new URL(answered);
  if (url.pathname.startsWith("/ws-client")) {
    const { protocol, host } = new URL(startUrl);
    url.protocol = protocol.replace("http", "ws");
    url.host = host;
  }
  return url.href;
}
