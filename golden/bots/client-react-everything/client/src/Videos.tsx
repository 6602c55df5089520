import { useEffect, useRef } from "react";
import type { Session } from "./session";
import { useSession } from "./useSession";

/** What the cameras show. */
export function Videos({ session }: { session: Session }) {
  const botVideo = useSession(session, (state) => state.botVideo);
  const ownVideo = useSession(session, (state) => state.ownVideo);

  return (
    <section className="videos" aria-label="Video">
      <Video label="The bot" track={botVideo} />
      <Video label="Your camera" className="own" track={ownVideo} />
    </section>
  );
}

interface VideoProps {
  label: string;
  className?: string;
  track: MediaStreamTrack | undefined;
}

function Video({ label, className, track }: VideoProps) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (element.current) element.current.srcObject = track ? new MediaStream([track]) : null;
  }, [track]);
  // The bot's sound is played by BotAudio.
  return <video ref={element} className={className} aria-label={label} autoPlay playsInline muted />;
}
