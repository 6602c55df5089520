import { memo, type SubmitEvent, useState } from "react";
import { aheadOf, type Entry, textOf } from "./conversation.ts";
import { seconds, stepsOf } from "./measurements.ts";
import { names } from "./page.ts";
import type { Session } from "./session.ts";
import { Tools } from "./Tools.tsx";
import { useSession } from "./useSession.ts";
import { isConnected } from "./words.ts";

/** The conversation, and the form for typed messages. */
export function Talk({ session }: { session: Session }) {
  const status = useSession(session, (state) => state.status);
  const conversation = useSession(session, (state) => state.conversation);
  const [times, setTimes] = useState(false);
  const connected = useSession(session, isConnected);

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get("message")?.toString().trim();
    if (text) session.send(text);
    event.currentTarget.reset();
  }

  return (
    <section className="talk" aria-label="Conversation so far">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be keyboard-accessible */}
      <div className="conversation" role="group" tabIndex={0} aria-label="Conversation">
        <div className="entries" data-times={times || undefined}>
          {connected && conversation.nextId === 0 && <p className="hint">The bot is about to greet you.</p>}
          <div role="log" aria-label="Conversation">
            <ol>
              {conversation.finished.map((entry) => (
                <Line key={entry.id} entry={entry} />
              ))}
            </ol>
          </div>
          {/* Unfinished speech stays outside the log, so that screen readers read each entry once. */}
          <ol>
            {conversation.unfinished.map((entry) => (
              <Line key={entry.id} entry={entry} partial />
            ))}
          </ol>
        </div>
      </div>
      <Tools session={session} times={times} onTimes={setTimes} />
      <form className="composer" onSubmit={submit}>
        <label className="visually-hidden" htmlFor="message">
          Message
        </label>
        <input
          id="message"
          name="message"
          dir="auto"
          autoComplete="off"
          placeholder="Type a message"
          disabled={!connected}
        />
        <button type="submit" disabled={status !== "Connected"}>
          Send
        </button>
      </form>
    </section>
  );
}

/** An entry. It is drawn again only if it changes: entries are values. */
const Line = memo(function Line({ entry, partial = false }: { entry: Entry; partial?: boolean }) {
  const ahead = aheadOf(entry);
  return (
    <li className={(partial ? "partial " : "") + entry.speaker}>
      <span className="speaker">{names[entry.speaker]}</span>{" "}
      <span className="text" dir="auto">
        {textOf(entry)}
        {ahead && <span className="ahead"> {ahead}</span>}
      </span>
      {entry.cutOff && " "}
      {entry.cutOff && <span className="cut-off">cut off</span>}
      {entry.took && <Times steps={stepsOf(entry.took)} />}
    </li>
  );
});

/** Where the time of an answer went. */
function Times({ steps }: { steps: ReturnType<typeof stepsOf> }) {
  return (
    <div className="took">
      <div className="bar" aria-hidden="true">
        {steps.map(([name, value]) => (
          <i key={name} style={{ flexGrow: value }} />
        ))}
      </div>
      {steps.map(([name, value]) => (
        <span key={name}>
          <i />
          {name} {seconds(value)}
        </span>
      ))}
    </div>
  );
}
