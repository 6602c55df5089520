import { useEffect, useRef } from "react";
import { deviceProblem } from "./problems";
import type { Session } from "./session";
import { useSession } from "./useSession";

/** Plays the bot's audio on the chosen speaker. */
export function BotAudio({ session, track }: { session: Session; track: MediaStreamTrack | null }) {
  const element = useRef<HTMLAudioElement>(null);
  const speaker = useSession(session, (state) => state.chosen.speaker);

  useEffect(() => {
    if (element.current) element.current.srcObject = track ? new MediaStream([track]) : null;
  }, [track]);

  useEffect(() => {
    // Not every browser supports this.
    element.current?.setSinkId?.(speaker).catch((error: unknown) => session.report(deviceProblem(error, "speaker")));
  }, [session, speaker]);

  return <audio ref={element} autoPlay />;
}
