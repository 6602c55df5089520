import type { Session } from "./session";
import { useSession } from "./useSession";

/** Connect and disconnect, and what is on. */
export function Controls({ session }: { session: Session }) {
  const connected = useSession(session, (state) => state.status !== "Not connected");
  const muted = useSession(session, (state) => state.muted);

  return (
    <section className="controls" aria-label="Session">
      <button
        type="button"
        className="primary"
        onClick={(event) => {
          if (event.detail > 1) return; // a double click is one click
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
