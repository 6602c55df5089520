import type { ReactNode } from "react";
import { Volume } from "./Volume";

interface StageProps {
  bot?: ReactNode;
  own?: ReactNode;
  volume?: ReactNode;
}

/** Where a session is seen and heard; without one it is empty. */
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
