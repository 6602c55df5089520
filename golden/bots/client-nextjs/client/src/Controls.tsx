import type { Session } from "./session.ts";
import { useSession } from "./useSession.ts";
import { actionOf, isConnected, isOff, type Mood } from "./words.ts";

/** Connect, disconnect and switches. */
export function Controls({ session, mood }: { session: Session; mood: Mood }) {
  const status = useSession(session, (state) => state.status);
  const connected = useSession(session, isConnected);
  const off = useSession(session, isOff);
  const cameraOn = useSession(session, (state) => state.cameraOn);
  const canShare = useSession(session, (state) => state.canShare);
  const sharing = useSession(session, (state) => state.sharing);
  const noVideo = useSession(session, (state) => state.transport === "websocket");

  return (
    <div className="controls">
      <button
        type="button"
        className={["idle", "ended", "failed"].includes(mood) ? "main" : "toggle leave"}
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
      <button
        type="button"
        className={cameraOn ? "toggle camera" : "toggle camera off"}
        disabled={noVideo}
        onClick={() => session.turnCamera(!cameraOn)}
      >
        {cameraOn ? "Stop camera" : "Camera"}
      </button>
      {canShare && (
        <button
          type="button"
          className={sharing ? "toggle screen on" : "toggle screen"}
          onClick={() => session.share(!sharing)}
        >
          {sharing ? "Stop sharing" : "Share screen"}
        </button>
      )}
    </div>
  );
}
