import { lazy, Suspense, useEffect, useState } from "react";
import { Composer } from "./Composer";
import { Controls } from "./Controls";
import { ConversationLog } from "./ConversationLog";
import { Devices } from "./Devices";
import { Session } from "./session";
import { Stage } from "./Stage";
import { useSession } from "./useSession";

// Loaded for the first session only.
const Live = lazy(() => import("./Live"));

export function App() {
  const [session] = useState(() => new Session());
  const status = useSession(session, (state) => state.status);
  const problem = useSession(session, (state) => state.problem);
  const client = useSession(session, (state) => state.client);

  useEffect(() => {
    const leave = () => void session.disconnect();
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
      leave();
    };
  }, [session]);

  return (
    <main>
      <header>
        <h1>client-react-everything</h1>
        <p role="status" className="status">
          {status}
        </p>
      </header>
      <p role="alert">{problem}</p>
      <Controls session={session} />
      <Devices session={session} />
      {client ? (
        <Suspense fallback={<Stage />}>
          <Live client={client} session={session} />
        </Suspense>
      ) : (
        <Stage />
      )}
      <ConversationLog session={session} />
      <Composer session={session} />
    </main>
  );
}
