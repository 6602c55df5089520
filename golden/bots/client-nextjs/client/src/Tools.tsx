import { CopyButton } from "./CopyButton.tsx";
import { asText, save } from "./keep.ts";
import { names } from "./page.ts";
import type { Session } from "./session.ts";
import { useSession } from "./useSession.ts";

interface ToolsProps {
  session: Session;
  /** Whether the times of each answer are shown. */
  times: boolean;
  onTimes: (times: boolean) => void;
}

/** What one can do with a conversation. */
export function Tools({ session, times, onTimes }: ToolsProps) {
  const empty = useSession(session, (state) => state.conversation.finished.length === 0);
  if (empty) return null;

  return (
    <div className="tools">
      <CopyButton label="Copy" text={() => asText(session.state.conversation)} />
      <button type="button" onClick={() => save(`${names.page}.txt`, asText(session.state.conversation))}>
        Save
      </button>
      <button type="button" aria-pressed={times} onClick={() => onTimes(!times)}>
        Times
      </button>
    </div>
  );
}
