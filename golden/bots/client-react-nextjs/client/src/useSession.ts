import { useSyncExternalStore } from "react";
import type { Session, SessionState } from "./session";

/** A part of the session's state: the component renders again when that part changes. */
export function useSession<T>(session: Session, select: (state: SessionState) => T): T {
  const selected = () => select(session.state);
  return useSyncExternalStore(session.subscribe, selected, selected);
}
