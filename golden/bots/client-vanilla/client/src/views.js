/** Parts of the page that are made here rather than in index.html. */
import { aheadOf, textOf } from "./conversation.js";
import { copy } from "./keep.js";
import { eventsAsText, seconds, stagesOf, stepsOf, tokensOf } from "./measurements.js";
import { names } from "./page.js";
import { parts } from "./problems.js";

function make(tag, properties = {}, ...content) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...content);
  return element;
}

/** Makes a button copy the text. */
export function copyOnClick(button, text) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    await copy(text());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 2000);
  });
  return button;
}

/** The problem that is shown now, and the button that removes it. */
let shown;
const dismissal = make("button", { type: "button" }, "Dismiss");

/** Shows the problem in a box with role="alert"; `dismiss` is there if the session goes on. */
export function showProblem(box, problem, dismiss) {
  Object.assign(dismissal, { hidden: !dismiss, onclick: dismiss || null });
  if (problem === shown) return;
  shown = problem;
  box.replaceChildren();
  if (!problem) return;
  const { command } = problem;
  const { what, todo } = parts(problem);
  const words = todo.map((piece, i) => (i % 2 ? make("code", {}, piece) : piece));
  box.append(make("p", {}, make("strong", {}, what), " ", ...words));
  if (command) {
    const button = copyOnClick(make("button", { type: "button" }, "Copy"), () => command);
    box.append(make("div", { className: "command" }, make("code", {}, command), button));
  }
  box.append(dismissal);
}

/** What is shown of each entry, by its id: its element, and the entry, which is a value. */
const lines = new Map();

/** Shows the finished entries in a list that is a log, and those that are still being said in another one. */
export function showConversation(conversation, finished, unfinished) {
  for (const [list, entries] of [
    [finished, conversation.finished],
    [unfinished, conversation.unfinished],
  ]) {
    for (const [i, entry] of entries.entries()) {
      const line = lines.get(entry.id) ?? { element: make("li") };
      lines.set(entry.id, line);
      if (line.entry === entry && line.element.parentElement === list) continue;
      line.entry = entry;
      if (line.element.parentElement !== list) list.insertBefore(line.element, list.children[i] ?? null);
      showEntry(line.element, entry, list === unfinished);
    }
  }
  const left = conversation.unfinished.map(({ id }) => lines.get(id).element);
  for (const element of Array.from(unfinished.children)) if (!left.includes(element)) element.remove();
}

function showEntry(element, entry, partial) {
  const ahead = aheadOf(entry);
  element.className = (partial ? "partial " : "") + entry.speaker;
  element.replaceChildren(
    make("span", { className: "speaker" }, names[entry.speaker]),
    " ",
    make(
      "span",
      { className: "text", dir: "auto" },
      textOf(entry),
      ahead && make("span", { className: "ahead" }, ` ${ahead}`),
    ),
    entry.cutOff ? " " : "",
    entry.cutOff ? make("span", { className: "cut-off" }, "cut off") : "",
    entry.took ? times(stepsOf(entry.took)) : "",
  );
}

/** Where the time of an answer went. */
function times(steps) {
  const bar = make("div", { className: "bar", ariaHidden: true }, ...steps.map(() => make("i")));
  steps.forEach(([, value], i) => (bar.children[i].style.flexGrow = value));
  const words = steps.map(([name, value]) => make("span", {}, make("i"), `${name} ${seconds(value)}`));
  return make("div", { className: "took" }, bar, ...words);
}

const row = (tag, cells) => make("tr", {}, ...cells.map((cell) => make(tag, {}, cell)));

/** Shows the numbers in the panel for developers. */
export function showMeasurements(measurements, panel) {
  const stages = stagesOf(measurements);
  panel.querySelector("thead").replaceChildren(row("th", ["First word", ...stages]));
  panel
    .querySelector("tbody")
    .replaceChildren(
      ...measurements.answers.map(({ asked, heard, stages: own }) =>
        row("td", [seconds(heard && heard - asked), ...stages.map((stage) => seconds(own[stage]))]),
      ),
    );
  panel.querySelector(".tokens").textContent = tokensOf(measurements);
  panel.querySelector("pre").textContent = eventsAsText(measurements);
}
