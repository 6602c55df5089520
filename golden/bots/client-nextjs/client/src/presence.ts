import type { Session } from "./session.ts";

/** Milliseconds between two looks at the levels; style.css smooths what is in between. */
const period = 60;

/**
 * Passes the levels on, until what it returns is called: to style.css as the custom properties --level, --level-before,
 * --level-earlier and --own-level, 0 to 1, and to the meter of the microphone. The shape and the meter are in the element.
 */
export function showLevels(element: HTMLElement, session: Session) {
  let before = 0;
  let earlier = 0;
  const show = (name: string, level: number) => {
    const value = level.toFixed(2);
    if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
    return value;
  };
  const timer = setInterval(() => {
    const bot = session.botLevel.loudness;
    show("--level", bot);
    show("--level-before", before);
    show("--level-earlier", earlier);
    [before, earlier] = [bot, before];
    const own = show("--own-level", session.state.muted && !session.state.checking ? 0 : session.ownLevel.loudness);
    element.querySelector("[role=meter]")?.setAttribute("aria-valuenow", own);
  }, period);
  return () => clearInterval(timer);
}
