import { useState } from "react";

/** Copies a text to the clipboard. */
export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [copied, setCopied] = useState(false);

  async function copy() {
    await navigator.clipboard.writeText(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  }

  return (
    <button type="button" onClick={() => void copy()}>
      {copied ? "Copied" : label}
    </button>
  );
}
