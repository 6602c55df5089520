import type { ReactNode } from "react";
import { Volume } from "./Volume";

interface StageProps {
  bot?: ReactNode;
  own?: ReactNode;
  volume?: ReactNode;
}

/** Shows and plays a session; empty without one. */
export function Stage({ bot, own, volume }: StageProps) {
  return (
    <>
      <section className="videos" aria-label="Video">
        {bot || <video aria-label="The bot" />}
        {own || <video aria-label="Your camera" />}
      </section>
      {volume || <Volume level={0} />}
    </>
  );
}
