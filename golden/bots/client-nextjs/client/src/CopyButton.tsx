import { useState } from "react";
import { copy } from "./keep.ts";

/** Copies a text to the clipboard. */
export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [copied, setCopied] = useState(false);

  async function press() {
    await copy(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  }

  return (
    <button type="button" onClick={() => void press()}>
      {copied ? "Copied" : label}
    </button>
  );
}
