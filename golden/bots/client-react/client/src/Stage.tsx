import type { ReactNode } from "react";
import { Volume } from "./Volume";

interface StageProps {
  volume?: ReactNode;
}

/** Where a session is seen and heard; without one it is empty. */
export function Stage({ volume }: StageProps) {
  return volume || <Volume level={0} />;
}
