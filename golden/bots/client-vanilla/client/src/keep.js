/** Copies and saves a conversation. */
import { textOf } from "./conversation.js";
import { names } from "./page.js";

/** A line for each entry. */
export const asText = ({ finished }) =>
  finished.map((entry) => `${names[entry.speaker]}: ${textOf(entry)}${entry.cutOff ? " …" : ""}\n`).join("");

/** Copies a text to the clipboard. Without https, a page can only copy a selection. */
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const selected = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(selected);
  selected.select();
  document.execCommand("copy");
  selected.remove();
}

/** Saves a text as a file. */
export function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
