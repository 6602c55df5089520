// @ts-check
/** Parts of the page that are made here rather than in index.html. */
import { aheadOf, textOf } from "./conversation.js";
import { asText, seconds, stagesOf, tokensOf } from "./measurements.js";
import { parts } from "./problems.js";

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Partial<HTMLElementTagNameMap[T]>} properties
 * @param {(Node | string)[]} content
 */
function make(tag, properties = {}, ...content) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...content);
  return element;
}

/** Makes a button copy the text. */
export function copyOnClick(/** @type {HTMLButtonElement} */ button, /** @type {() => string} */ text) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 2000);
  });
  return button;
}

/** The problem that is shown now. @type {import("./problems.js").Problem | undefined} */
let shown;

/**
 * @param {HTMLElement} box - with role="alert"
 * @param {import("./problems.js").Problem | undefined} problem
 * @param {(() => void) | undefined} dismiss - if the session goes on
 */
export function showProblem(box, problem, dismiss) {
  if (problem === shown) return;
  shown = problem;
  box.replaceChildren();
  if (!problem) return;
  const { command } = problem;
  const { what, todo } = parts(problem);
  const words = todo.map((piece, i) => (i % 2 ? make("code", {}, piece) : piece));
  box.append(make("p", {}, make("strong", {}, what), " ", ...words));
  if (command) {
    const copy = copyOnClick(make("button", { type: "button" }, "Copy"), () => command);
    box.append(make("div", { className: "command" }, make("code", {}, command), copy));
  }
  if (dismiss) box.append(make("button", { type: "button", onclick: dismiss }, "Dismiss"));
}

/** The elements of entries, by their id. @type {Map<number, HTMLLIElement>} */
const elements = new Map();

/**
 * @param {import("./conversation.js").Conversation} conversation
 * @param {HTMLElement} finished - the list that is a log
 * @param {HTMLElement} unfinished
 */
export function showConversation(conversation, finished, unfinished) {
  for (const [list, entries] of /** @type {const} */ ([
    [finished, conversation.finished],
    [unfinished, conversation.unfinished],
  ])) {
    for (const entry of entries) {
      let element = elements.get(entry.id);
      if (!element) elements.set(entry.id, (element = make("li")));
      if (element.parentElement !== list) list.append(element);
      showEntry(element, entry, list === unfinished);
    }
  }
  const left = conversation.unfinished.map(({ id }) => elements.get(id));
  for (const element of Array.from(unfinished.children)) {
    if (!left.includes(/** @type {HTMLLIElement} */ (element))) element.remove();
  }
}

function showEntry(
  /** @type {HTMLLIElement} */ element,
  /** @type {import("./conversation.js").Entry} */ entry,
  /** @type {boolean} */ partial,
) {
  const said = textOf(entry);
  const ahead = aheadOf(entry);
  const state = [said, ahead, entry.cutOff, partial].join("\n");
  if (element.dataset.state === state) return;
  element.dataset.state = state;
  element.className = (partial ? "partial " : "") + (entry.speaker === "You" ? "user" : "bot");
  element.replaceChildren(
    make("span", { className: "speaker" }, entry.speaker),
    " ",
    make("span", { className: "text" }, said, ahead && make("span", { className: "ahead" }, ` ${ahead}`)),
    entry.cutOff ? " " : "",
    entry.cutOff ? make("span", { className: "cut-off" }, "cut off") : "",
  );
}

const row = (/** @type {"td" | "th"} */ tag, /** @type {string[]} */ cells) =>
  make("tr", {}, ...cells.map((cell) => make(tag, {}, cell)));

/**
 * @param {import("./measurements.js").Measurements} measurements
 * @param {HTMLElement} panel - the one for developers
 */
export function showMeasurements(measurements, panel) {
  const stages = stagesOf(measurements);
  panel.querySelector("thead")?.replaceChildren(row("th", ["First word", ...stages]));
  panel
    .querySelector("tbody")
    ?.replaceChildren(
      ...measurements.answers.map(({ asked, heard, stages: own }) =>
        row("td", [seconds(heard && heard - asked), ...stages.map((stage) => seconds(own[stage]))]),
      ),
    );
  const [tokens, events] = panel.querySelectorAll(".tokens, pre");
  if (tokens) tokens.textContent = tokensOf(measurements);
  if (events) events.textContent = asText(measurements);
}
