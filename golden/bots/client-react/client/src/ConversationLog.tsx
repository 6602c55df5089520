import { useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { type Entry, textOf } from "./conversation";
import type { Session } from "./session";
import { useSession } from "./useSession";

/** Pixels from the end that count as scrolled to the end. */
const nearby = 24;

/** The conversation. Follows new text unless the reader has scrolled up. */
export function ConversationLog({ session }: { session: Session }) {
  const conversation = useSession(session, (state) => state.conversation);
  const box = useRef<HTMLElement>(null);
  const following = useRef(true);

  const follow = useCallback(() => {
    if (box.current && following.current) box.current.scrollTop = box.current.scrollHeight;
  }, []);
  useLayoutEffect(follow);
  useEffect(() => {
    if (!box.current) return;
    // A phone was rotated, or its keyboard opened.
    const observer = new ResizeObserver(follow);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [follow]);

  return (
    <section
      className="conversation"
      aria-label="Conversation so far"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable areas must be keyboard-accessible
      tabIndex={0}
      ref={box}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        following.current = scrollTop + clientHeight > scrollHeight - nearby;
      }}
    >
      {conversation.nextId === 0 && <p className="hint">Press Connect, allow the microphone and start talking.</p>}
      <div role="log" aria-label="Conversation">
        <Entries entries={conversation.finished} />
      </div>
      {/* Unfinished speech stays outside the log, so that screen readers read each entry once. */}
      <Entries entries={conversation.unfinished} partial />
    </section>
  );
}

function Entries({ entries, partial = false }: { entries: readonly Entry[]; partial?: boolean }) {
  return (
    <ol>
      {entries.map((entry) => (
        <li key={entry.id} className={(partial ? "partial " : "") + (entry.speaker === "You" ? "user" : "bot")}>
          <span className="speaker">{entry.speaker}</span> <span className="text">{textOf(entry)}</span>
        </li>
      ))}
    </ol>
  );
}
