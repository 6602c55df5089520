import { mayNotPlay } from "./problems.js";

/** Calls back, once, when the person presses something: from then on, browsers allow sound. */
export function afterPress(callback) {
  const once = new AbortController();
  const pressed = () => {
    once.abort();
    callback();
  };
  for (const type of ["click", "keydown"]) document.addEventListener(type, pressed, { signal: once.signal });
}

/** Plays the bot's voice. If the browser refuses, the page says what to press, and the voice is heard after that. */
export async function playVoice(element, session) {
  try {
    await element.play();
    if (session.state.problem === mayNotPlay) session.report();
  } catch (error) {
    if (error.name !== "NotAllowedError") return; // such as AbortError: there is another track by now
    session.report(mayNotPlay);
    afterPress(() => {
      if (element.srcObject) void playVoice(element, session);
    });
  }
}
