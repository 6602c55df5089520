import type { SubmitEvent } from "react";
import type { Session } from "./session";
import { useSession } from "./useSession";

/** Typed messages. */
export function Composer({ session }: { session: Session }) {
  const status = useSession(session, (state) => state.status);

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get("message")?.toString().trim();
    if (text) session.send(text);
    event.currentTarget.reset();
  }

  return (
    <form className="composer" onSubmit={submit}>
      <label className="visually-hidden" htmlFor="message">
        Message
      </label>
      <input id="message" name="message" autoComplete="off" placeholder="Type a message" disabled={status !== "Connected" && status !== "Reconnecting"} />
      <button type="submit" disabled={status !== "Connected"}>
        Send
      </button>
    </form>
  );
}
