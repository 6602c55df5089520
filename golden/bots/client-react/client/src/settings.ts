/** Settings from .env; see .env.example. */

/** Where sessions start: the path or URL of the bot's /start. */
export const startPath: string = import.meta.env.VITE_START_URL || "/start";

/** Whether to ask the bot's host for STUN and TURN servers, which help behind firewalls. */
export const askForIceServers = import.meta.env.VITE_ICE_SERVERS === "default";

/** The bot answers with its own address. The page connects to the host that served /start. */
export function webSocketUrl(answered: string, startUrl: string) {
  const url = new URL(answered, startUrl);
  if (url.pathname.startsWith("/ws-client")) {
    const { protocol, host } = new URL(startUrl);
    url.protocol = protocol.replace("http", "ws");
    url.host = host;
  }
  return url.href;
}
