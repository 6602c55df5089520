import { useSyncExternalStore } from "react";
import type { Session, State } from "./session.ts";

/** Selects part of the session's state; the component re-renders when it changes. */
export function useSession<T>(session: Session, select: (state: State) => T): T {
  const selected = () => select(session.state);
  return useSyncExternalStore(session.subscribe, selected, selected);
}
