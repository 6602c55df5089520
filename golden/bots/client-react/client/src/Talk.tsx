import { type SubmitEvent, useEffect, useRef } from "react";
import { aheadOf, type Entry, textOf } from "./conversation.ts";
import { followEnd } from "./scroll.ts";
import type { Session } from "./session.ts";
import { useSession } from "./useSession.ts";

/** The conversation, and the form for typed messages. */
export function Talk({ session }: { session: Session }) {
  const status = useSession(session, (state) => state.status);
  const conversation = useSession(session, (state) => state.conversation);
  const connected = status === "Connected" || status === "Reconnecting";
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => (box.current ? followEnd(box.current) : undefined), []);

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get("message")?.toString().trim();
    if (text) session.send(text);
    event.currentTarget.reset();
  }

  return (
    <section className="talk" aria-label="Conversation so far">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be keyboard-accessible */}
      <div className="conversation" role="group" tabIndex={0} aria-label="Conversation" ref={box}>
        {connected && conversation.nextId === 0 && <p className="hint">The bot is about to greet you.</p>}
        <div role="log" aria-label="Conversation">
          <ol>
            <Entries entries={conversation.finished} />
          </ol>
        </div>
        {/* Unfinished speech stays outside the log, so that screen readers read each entry once. */}
        <ol>
          <Entries entries={conversation.unfinished} partial />
        </ol>
      </div>
      <form className="composer" onSubmit={submit}>
        <label className="visually-hidden" htmlFor="message">
          Message
        </label>
        <input id="message" name="message" autoComplete="off" placeholder="Type a message" disabled={!connected} />
        <button type="submit" disabled={status !== "Connected"}>
          Send
        </button>
      </form>
    </section>
  );
}

function Entries({ entries, partial = false }: { entries: readonly Entry[]; partial?: boolean }) {
  return entries.map((entry) => {
    const ahead = aheadOf(entry);
    return (
      <li key={entry.id} className={(partial ? "partial " : "") + (entry.speaker === "You" ? "user" : "bot")}>
        <span className="speaker">{entry.speaker}</span>{" "}
        <span className="text">
          {textOf(entry)}
          {ahead && <span className="ahead"> {ahead}</span>}
        </span>
        {entry.cutOff && " "}
        {entry.cutOff && <span className="cut-off">cut off</span>}
      </li>
    );
  });
}
