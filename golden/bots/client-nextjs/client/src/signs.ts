import { names } from "./page.ts";
import type { Session } from "./session.ts";
import { moodOf, wordOf } from "./words.ts";

/** Who speaks, in the tab's title and icon, which keep the colors of style.css, until what this returns is called. */
export function showSigns(session: Session) {
  const link = document.head.querySelector<HTMLLinkElement>("link[rel=icon]");
  const style = getComputedStyle(document.documentElement);
  let shown = "";
  const show = () => {
    const mood = moodOf(session.state);
    const sign = mood === "speaking" || mood === "hearing" ? mood : "";
    if (shown === (shown = sign || "none")) return;
    document.title = sign ? `${wordOf(mood)} – ${names.page}` : names.page;
    const bars = sign === "speaking" ? "M20 24v16M32 16v32M44 24v16" : "";
    const ring = `<circle cx="32" cy="32" r="${sign === "hearing" ? 16 : 26}" stroke="${style.getPropertyValue("--bot")}" stroke-width="12" fill="${style.getPropertyValue("--bot")}"/>`;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">${ring}<path d="${bars}" stroke="#fff" stroke-width="6" stroke-linecap="round"/></svg>`;
    if (link) link.href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  };
  show();
  return session.subscribe(show);
}
