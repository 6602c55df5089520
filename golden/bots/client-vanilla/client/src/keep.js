/** What a person can keep of a conversation. */
import { textOf } from "./conversation.js";
import { names } from "./page.js";

/** A line for each entry. */
export const asText = ({ finished }) =>
  finished.map((entry) => `${names[entry.speaker]}: ${textOf(entry)}${entry.cutOff ? " …" : ""}\n`).join("");

/** Saves a text as a file. */
export function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
