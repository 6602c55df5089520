import { useEffect, useState } from "react";
import { BotAudio } from "./BotAudio";
import { Composer } from "./Composer";
import { Controls } from "./Controls";
import { ConversationLog } from "./ConversationLog";
import { Devices } from "./Devices";
import { Session } from "./session";
import { useSession } from "./useSession";
import { Volume } from "./Volume";

export function App() {
  const [session] = useState(() => new Session());
  const status = useSession(session, (state) => state.status);
  const problem = useSession(session, (state) => state.problem);

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
        <h1>client-react</h1>
        <p role="status" className="status">
          {status}
        </p>
      </header>
      <p role="alert">{problem}</p>
      <Controls session={session} />
      <Devices session={session} />
      <Volume session={session} />
      <ConversationLog session={session} />
      <Composer session={session} />
      <BotAudio session={session} />
    </main>
  );
}
