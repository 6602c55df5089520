import { useEffect, useRef } from "react";
import { deviceProblem } from "./problems.ts";
import type { Session } from "./session.ts";
import { playVoice } from "./sound.ts";
import { useSession } from "./useSession.ts";

/** Plays the bot's audio on the chosen speaker. */
export function BotAudio({ session }: { session: Session }) {
  const element = useRef<HTMLAudioElement>(null);
  const track = useSession(session, (state) => state.botAudio);
  const speaker = useSession(session, (state) => state.chosen.speaker);

  useEffect(() => {
    if (!element.current) return;
    element.current.srcObject = track ? new MediaStream([track]) : null;
    if (track) void playVoice(element.current, session);
  }, [session, track]);

  useEffect(() => {
    // Not every browser supports this.
    element.current?.setSinkId?.(speaker).catch((error: unknown) => session.report(deviceProblem(error, "speaker")));
  }, [session, speaker]);

  return <audio ref={element} autoPlay />;
}

/** Shows a picture. */
export function Video({ track, ...attributes }: { track: MediaStreamTrack; className: string; "aria-label": string }) {
  const element = useRef<HTMLVideoElement>(null);

  useEffect(() => {
    if (element.current) element.current.srcObject = new MediaStream([track]);
  }, [track]);

  return <video ref={element} autoPlay playsInline muted {...attributes} />;
}
