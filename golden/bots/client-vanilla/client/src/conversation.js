// @ts-check
/** The transcript: whole entries in a log, what is still being said below it. */

/** @typedef {"You" | "Bot"} Speaker */

/** Something that is being said. */
class Entry {
  element = document.createElement("li");
  #text = document.createElement("span");
  /** The bot's sentences by segment, as far as they were spoken, or the pieces of what the person said. */
  #parts = new Map();

  /** @param {Speaker} speaker */
  constructor(speaker) {
    const who = document.createElement("span");
    who.className = "speaker";
    who.textContent = speaker;
    this.#text.className = "text";
    this.element.className = speaker === "You" ? "partial user" : "partial bot";
    this.element.append(who, " ", this.#text);
  }

  has(/** @type {unknown} */ part) {
    return this.#parts.has(part);
  }

  set(/** @type {unknown} */ part, /** @type {string} */ text) {
    this.#parts.set(part, text.trim());
    this.#text.textContent = [...this.#parts.values()].filter(Boolean).join(" ");
  }

  get empty() {
    return !this.#text.textContent;
  }
}

export class Conversation {
  #scroller;
  #entries;
  #unfinished;
  /** Whether the log is scrolled to the end. */
  #following = true;
  /** @type {Entry | undefined} */
  #user;
  /** The person's last entry. @type {Entry | undefined} */
  #lastUser;
  /** @type {Entry | undefined} */
  #bot;
  /** The bot's last entry; its final words may arrive just after it stops speaking. @type {Entry | undefined} */
  #lastBot;

  /**
   * @param {HTMLElement} scroller - the box around both lists
   * @param {HTMLElement} entries - the list within the log
   * @param {HTMLElement} unfinished
   */
  constructor(scroller, entries, unfinished) {
    this.#scroller = scroller;
    this.#entries = entries;
    this.#unfinished = unfinished;
    scroller.addEventListener("scroll", () => {
      this.#following = scroller.scrollTop + scroller.clientHeight > scroller.scrollHeight - 24;
    });
    new ResizeObserver(() => this.#follow()).observe(scroller);
  }

  /** @param {import("@pipecat-ai/client-js").TranscriptData} data */
  userText({ text, final }) {
    const before = this.#lastUser;
    if (final && before && !this.#bot && before.element === this.#entries.lastElementChild) {
      // Speech arrives in pieces, which form one entry until someone else speaks.
      before.set(Symbol("piece"), text);
      this.#user?.element.remove();
      this.#user = undefined;
    } else {
      this.#user ??= this.#begin("You");
      this.#user.set("words", text); // interim text is replaced by the next event
      if (final) {
        this.#lastUser = this.#user;
        this.#user = this.#finish(this.#user);
      }
    }
    this.#follow();
  }

  typed(/** @type {string} */ text) {
    const entry = this.#begin("You");
    entry.set("words", text);
    this.#finish(entry);
    this.#follow();
  }

  /** @param {import("@pipecat-ai/client-js").BotOutputData} data */
  botText({ text, segment_id: segment, will_be_spoken: spoken, spoken_progress: progress }) {
    const said = spoken && progress ? progress.accumulated_text : text;
    const entry = this.#lastBot?.has(segment) ? this.#lastBot : (this.#bot ??= this.#begin("Bot"));
    entry.set(segment, said);
    this.#follow();
  }

  botStopped() {
    if (!this.#bot) return;
    this.#lastBot = this.#bot;
    this.#bot = this.#finish(this.#bot);
    this.#follow();
  }

  /** Finishes all entries at the end of a session. */
  end() {
    this.#user = this.#finish(this.#user);
    this.botStopped();
    this.#lastBot = undefined; // the next session counts its segments from zero
  }

  #begin(/** @type {Speaker} */ speaker) {
    const entry = new Entry(speaker);
    this.#scroller.querySelector(".hint")?.remove();
    this.#unfinished.append(entry.element);
    return entry;
  }

  /** @returns {undefined} to clear the caller's variable */
  #finish(/** @type {Entry | undefined} */ entry) {
    entry?.element.classList.remove("partial");
    if (entry?.empty) entry.element.remove();
    else if (entry) this.#entries.append(entry.element);
  }

  #follow() {
    if (this.#following) this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }
}
