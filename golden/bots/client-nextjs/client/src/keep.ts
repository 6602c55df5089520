/** Copies and saves a conversation. */
import { type Conversation, textOf } from "./conversation.ts";
import { names } from "./page.ts";

/** A line for each entry. */
export const asText = ({ finished }: Conversation) =>
  finished.map((entry) => `${names[entry.speaker]}: ${textOf(entry)}${entry.cutOff ? " …" : ""}\n`).join("");

/** Copies a text to the clipboard. Without https, a page can only copy a selection. */
export async function copy(text: string) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const selected = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(selected);
  selected.select();
  document.execCommand("copy");
  selected.remove();
}

/** Saves a text as a file. */
export function save(name: string, text: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
