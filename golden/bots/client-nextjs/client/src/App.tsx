import { useEffect, useState } from "react";
import { Developer } from "./Developer.tsx";
import { BotAudio } from "./Media.tsx";
import { embedded, forDevelopers, names } from "./page.ts";
import { Session } from "./session.ts";
import { Settings } from "./Settings.tsx";
import { showSigns } from "./signs.ts";
import { Stage } from "./Stage.tsx";
import { Talk } from "./Talk.tsx";
import { useSession } from "./useSession.ts";
import { isConnected } from "./words.ts";

export function App() {
  const [session] = useState(() => new Session());
  const status = useSession(session, (state) => state.status);
  const talking = useSession(session, (state) => state.conversation.nextId > 0);
  const connected = useSession(session, isConnected);

  useEffect(() => showSigns(session), [session]);
  useEffect(() => session.muteWithSpace(), [session]);
  useEffect(() => {
    const leave = () => void session.disconnect();
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
      leave();
    };
  }, [session]);

  return (
    <main data-view={(connected || talking) && !embedded ? "talk" : "start"} data-embedded={embedded || undefined}>
      <header>
        <h1>{names.page}</h1>
        <p role="status" className="status" data-status={status}>
          {status}
        </p>
      </header>
      <Stage session={session} />
      <Talk session={session} />
      <footer>
        <Settings session={session} />
        {forDevelopers && <Developer session={session} />}
      </footer>
      <BotAudio session={session} />
    </main>
  );
}
