import type { Session } from "./session";
import { useSession } from "./useSession";

/** Connect, disconnect and toggles. */
export function Controls({ session }: { session: Session }) {
  const connected = useSession(session, (state) => state.status !== "Not connected");
  const muted = useSession(session, (state) => state.muted);

  return (
    <section className="controls" aria-label="Session">
      <button
        type="button"
        className="primary"
        onClick={(event) => {
          if (event.detail > 1) return; // treat a double click as one
          void (connected ? session.disconnect() : session.connect());
        }}
      >
        {connected ? "Disconnect" : "Connect"}
      </button>
      <button type="button" aria-pressed={muted} onClick={() => session.mute(!muted)}>
        Mute
      </button>
    </section>
  );
}
