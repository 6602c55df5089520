import { type CSSProperties, useEffect, useState } from "react";

/** Milliseconds between two measurements. */
const period = 80;

/** Shows the volume of the bot; level is the root mean square of its samples, 0 to 1. */
export function Volume({ level }: { level: number }) {
  const loudness = loudnessOf(level);
  return (
    <div className="volume">
      <span id="volume-label">Bot volume</span>
      <div
        className="meter"
        role="meter"
        aria-labelledby="volume-label"
        aria-valuemin={0}
        aria-valuemax={1}
        aria-valuenow={loudness}
        style={{ "--level": loudness } as CSSProperties}
      />
    </div>
  );
}

/** Loudness as people hear it: 0 for -50 dB, barely audible, to 1 for 0 dB. */
function loudnessOf(level: number): number {
  const decibels = 20 * Math.log10(level || 1e-6);
  return Number(Math.min(1, Math.max(0, 1 + decibels / 50)).toFixed(2));
}

/** Root mean square of the track's current samples; speech is about 0.1. */
export function useLevel(track: MediaStreamTrack | null): number {
  const [level, setLevel] = useState(0);

  useEffect(() => {
    if (!track) return;
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      setLevel(Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length));
    }, period);
    return () => {
      clearInterval(timer);
      void context.close();
      setLevel(0);
    };
  }, [track]);

  return level;
}
