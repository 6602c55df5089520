import { CopyButton } from "./CopyButton.tsx";
import { parts } from "./problems.ts";
import type { Session } from "./session.ts";
import { useSession } from "./useSession.ts";
import { isConnected } from "./words.ts";

/** What went wrong and what to do. It stays on the page when empty, so that screen readers announce what is added. */
export function ProblemBox({ session }: { session: Session }) {
  const problem = useSession(session, (state) => state.problem);
  const connected = useSession(session, isConnected);
  if (!problem) return <div role="alert" />;

  const { what, todo } = parts(problem);
  return (
    <div role="alert">
      <p>
        <strong>{what}</strong> {todo.map((piece, i) => (i % 2 ? <code key={piece}>{piece}</code> : piece))}
      </p>
      {problem.command && (
        <div className="command">
          <code>{problem.command}</code>
          <CopyButton label="Copy" text={() => problem.command ?? ""} />
        </div>
      )}
      {connected && (
        <button type="button" onClick={() => session.report()}>
          Dismiss
        </button>
      )}
    </div>
  );
}
