/**
 * Forwards the page's requests to the bot: starting sessions and SmallWebRTC offers. The bot's
 * address and the key stay on the server.
 *
 * Anyone who opens the page can start a session. Add a check here before you publish it.
 */
async function pass(request: Request, context: { params: Promise<{ path: string[] }> }): Promise<Response> {
  const bot = (process.env.BOT_URL || "http://localhost:7860").replace(/\/$/, "");
  const key = process.env.PIPECAT_CLOUD_API_KEY || process.env.START_TOKEN;
  const { path } = await context.params;
  if (path[0] !== "start" && path[0] !== "sessions") return new Response(null, { status: 404 });
  const headers = new Headers({ "Content-Type": "application/json" });
  const visitor = request.headers.get("X-Forwarded-For");
  if (visitor) headers.set("X-Forwarded-For", visitor); // the bot limits sessions by address
  if (key) headers.set("Authorization", `Bearer ${key}`);
  const { method, signal } = request;
  const body = await request.text();
  try {
    const answer = await fetch(`${bot}/${path.map(encodeURIComponent).join("/")}`, { method, headers, body, signal });
    if (path[0] === "start" && answer.ok) return Response.json(atTheBot(await answer.json(), bot));
    const type = answer.headers.get("Content-Type") ?? "text/plain";
    return new Response(answer.body, { status: answer.status, headers: { "Content-Type": type } });
  } catch {
    // Tells the page which address did not answer.
    return Response.json({ bot }, { status: 502 });
  }
}

/** The bot answers with its own address. Replace the host with the one that this server uses. */
function atTheBot(answer: { wsUrl?: string }, bot: string) {
  if (!answer.wsUrl) return answer;
  const url = new URL(answer.wsUrl, bot);
  if (url.pathname.startsWith("/ws-client")) {
    const { protocol, host } = new URL(bot);
    url.protocol = protocol.replace("http", "ws");
    url.host = host;
  }
  return { ...answer, wsUrl: url.href };
}

export { pass as PATCH, pass as POST };
