import type { Session } from "./session.ts";
import { useSession } from "./useSession.ts";
import { actionOf, type Mood } from "./words.ts";

/** Connect, disconnect and switches. */
export function Controls({ session, mood }: { session: Session; mood: Mood }) {
  const status = useSession(session, (state) => state.status);
  const muted = useSession(session, (state) => state.muted);
  const cameraOn = useSession(session, (state) => state.cameraOn);
  const canShare = useSession(session, (state) => state.canShare);
  const sharing = useSession(session, (state) => state.sharing);
  const noVideo = useSession(session, (state) => state.transport === "websocket");

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
      {(status === "Connected" || status === "Reconnecting") && (
        <button type="button" className={muted ? "toggle mute off" : "toggle mute"} onClick={() => session.mute(!muted)}>
          {muted ? "Unmute" : "Mute"}
        </button>
      )}
      <button
        type="button"
        className="toggle camera"
        aria-pressed={cameraOn}
        disabled={noVideo}
        onClick={() => session.turnCamera(!cameraOn)}
      >
        Camera
      </button>
      {canShare && (
        <button type="button" className="toggle screen" aria-pressed={sharing} onClick={() => session.share(!sharing)}>
          Screen
        </button>
      )}
    </div>
  );
}
