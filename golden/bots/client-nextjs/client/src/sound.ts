import { mayNotPlay } from "./problems.ts";
import type { Session } from "./session.ts";

/** Calls back, once, when the person presses something: from then on, browsers allow sound. */
export function afterPress(callback: () => void) {
  const once = new AbortController();
  const pressed = () => {
    once.abort();
    callback();
  };
  for (const type of ["click", "keydown"]) document.addEventListener(type, pressed, { signal: once.signal });
}

/** Plays the bot's voice. If the browser refuses, the page says what to press, and the voice is heard after that. */
export async function playVoice(element: HTMLMediaElement, session: Session) {
  try {
    await element.play();
    if (session.state.problem === mayNotPlay) session.report();
  } catch (error) {
    if ((error as Error).name !== "NotAllowedError") return; // such as AbortError: there is another track by now
    session.report(mayNotPlay);
    afterPress(() => {
      if (element.srcObject) void playVoice(element, session);
    });
  }
}
