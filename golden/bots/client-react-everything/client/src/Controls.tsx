import type { Session } from "./session";
import { type TransportName, transports } from "./transports";
import { useSession } from "./useSession";

/** Connect, disconnect and toggles. */
export function Controls({ session }: { session: Session }) {
  const connected = useSession(session, (state) => state.status !== "Not connected");
  const muted = useSession(session, (state) => state.muted);
  const cameraOn = useSession(session, (state) => state.cameraOn);
  const transport = useSession(session, (state) => state.transport);

  return (
    <section className="controls" aria-label="Session">
      <label>
        Connection
        <select
          value={transport}
          disabled={connected}
          onChange={(event) => session.take(event.target.value as TransportName)}
        >
          {Object.entries(transports).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
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
      <button
        type="button"
        aria-pressed={cameraOn}
        disabled={transport === "websocket"} // it carries only audio
        onClick={() => session.turnCamera(!cameraOn)}
      >
        Camera
      </button>
    </section>
  );
}
