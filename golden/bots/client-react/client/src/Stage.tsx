import type { ReactNode } from "react";
import { Volume } from "./Volume";

interface StageProps {
  volume?: ReactNode;
}

/** Shows and plays a session; empty without one. */
export function Stage({ volume }: StageProps) {
  return volume || <Volume level={0} />;
}
