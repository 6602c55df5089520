import type { Session } from "./session.ts";
import { useSession } from "./useSession.ts";
import { actionOf, isConnected, isOff, type Mood } from "./words.ts";

/** Connect, disconnect and switches. */
export function Controls({ session, mood }: { session: Session; mood: Mood }) {
  const status = useSession(session, (state) => state.status);
  const connected = useSession(session, isConnected);
  const off = useSession(session, isOff);

  return (
    <div className="controls">
      <button
        type="button"
        className={mood === "idle" || mood === "failed" ? "main" : "toggle leave"}
        onClick={(event) => {
          if (event.detail > 1) return; // treat a double click as one
          void (status === "Not connected" ? session.connect() : session.disconnect());
        }}
      >
        {actionOf(mood)}
      </button>
      {connected && (
        <button type="button" className={off ? "toggle mute off" : "toggle mute"} onClick={() => session.mute(!off)}>
          {off ? "Unmute" : "Mute"}
        </button>
      )}
    </div>
  );
}
