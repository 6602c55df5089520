/** What a person can keep of a conversation. */
import { type Conversation, textOf } from "./conversation.ts";
import { names } from "./page.ts";

/** A line for each entry. */
export const asText = ({ finished }: Conversation) =>
  finished.map((entry) => `${names[entry.speaker]}: ${textOf(entry)}${entry.cutOff ? " …" : ""}\n`).join("");

/** Saves a text as a file. */
export function save(name: string, text: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
