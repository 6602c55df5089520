import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv, type ProxyOptions } from "vite";
import { names } from "./src/page.ts";

export default defineConfig(({ mode }) => {
  const env = loadEnv(mode, ".", "");
  const bot = (env.BOT_URL || "http://localhost:7860").replace(/\/$/, "");
  const key = env.PIPECAT_CLOUD_API_KEY;

  const toBot: ProxyOptions = {
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
    "/ws-client": { ...toBot, ws: true },
  };
  const title = { name: "title", transformIndexHtml: (html: string) => html.replace("%NAME%", names.page) };
  return {
    plugins: [react(), title],
    server: { proxy },
    preview: { proxy },
  };
});
