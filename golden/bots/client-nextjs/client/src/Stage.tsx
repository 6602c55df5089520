import { useEffect, useRef } from "react";
import { Controls } from "./Controls.tsx";
import { Video } from "./Media.tsx";
import { embedded } from "./page.ts";
import { showLevels } from "./presence.ts";
import { ProblemBox } from "./ProblemBox.tsx";
import type { Session } from "./session.ts";
import { useSession } from "./useSession.ts";
import { hintOf, moodOf, wordOf } from "./words.ts";

/** The bot, and what to do. */
export function Stage({ session }: { session: Session }) {
  const mood = useSession(session, moodOf);
  const hint = useSession(session, hintOf);
  const open = useSession(session, ({ microphone }) => ["open", "heard", "silent"].includes(microphone));
  const checking = useSession(session, (state) => state.checking);
  const idle = useSession(session, (state) => state.status === "Not connected");
  const botVideo = useSession(session, (state) => state.botVideo);
  const ownVideo = useSession(session, (state) => state.ownVideo);
  const sharing = useSession(session, (state) => state.sharing);
  const stage = useRef<HTMLElement>(null);

  useEffect(() => (stage.current ? showLevels(stage.current, session) : undefined), [session]);

  return (
    <section className="stage" data-mood={mood} aria-label="Session" ref={stage}>
      <div className="presence" aria-hidden="true">
        <div className="ring" />
        <div className="ring" />
        <div className="core">
          <i />
          <i />
          <i />
          <i />
          <i />
        </div>
      </div>
      {botVideo && <Video className="bot-video" aria-label="The bot" track={botVideo} />}
      {ownVideo && <Video className={sharing ? "own-video shared" : "own-video"} aria-label="Your camera" track={ownVideo} />}
      <p className="mood" role={embedded ? "status" : undefined}>
        {wordOf(mood)}
      </p>
      {open && (
        <div className="level">
          <div
            className="meter"
            role="meter"
            aria-label="Microphone level"
            aria-valuemin={0}
            aria-valuemax={1}
            aria-valuenow={0}
          />
        </div>
      )}
      <ProblemBox session={session} />
      {mood === "idle" && (
        <p className="lead">
          Press Connect and allow the microphone and the camera when the browser asks. The bot greets you; then just talk, or type.
        </p>
      )}
      <Controls session={session} mood={mood} />
      {idle && (
        <button type="button" className="quiet" onClick={() => void (checking ? session.stopCheck() : session.check())}>
          {checking ? "End the check" : "Check the microphone"}
        </button>
      )}
      <p className="hint" aria-live="polite">
        {hint}
      </p>
    </section>
  );
}
