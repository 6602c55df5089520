import { defineConfig, loadEnv } from "vite";
import { names } from "./src/page.js";

export default defineConfig(({ mode }) => {
  const env = loadEnv(mode, import.meta.dirname, "");
  const bot = (env.BOT_URL || "http://localhost:7860").replace(/\/$/, "");
  const key = env.PIPECAT_CLOUD_API_KEY || env.START_TOKEN;

  /** @type {import("vite").ProxyOptions} */
  const toBot = {
    target: bot,
    changeOrigin: true,
    headers: key ? { Authorization: `Bearer ${key}` } : undefined,
    configure(proxy) {
      // Tells the page which address did not answer.
      proxy.on("error", (_error, _request, response) => {
        if ("writeHead" in response && !response.headersSent) {
          response.writeHead(502, { "Content-Type": "application/json" });
          response.end(JSON.stringify({ bot }));
        }
      });
    },
  };
  // The page and the bot share an origin, so CORS does not apply.
  const proxy = {
    "/start": toBot,
    "/sessions": toBot,
  };
  const title = { name: "title", transformIndexHtml: (html) => html.replaceAll("%NAME%", names.page) };
  return {
    plugins: [title],
    build: { chunkSizeWarningLimit: 600 }, // Connect loads the package of LiveKit, which is larger than Vite likes
    server: { proxy },
    preview: { proxy },
  };
});
