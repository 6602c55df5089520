import { useState } from "react";
import { CopyButton } from "./CopyButton.tsx";
import { eventsAsText, seconds, stagesOf, tokensOf } from "./measurements.ts";
import type { Session } from "./session.ts";
import { useSession } from "./useSession.ts";

/** Numbers and events, for developers. */
export function Developer({ session }: { session: Session }) {
  const [open, setOpen] = useState(false);

  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>For developers</summary>
      {open && <Measurements session={session} />}
    </details>
  );
}

function Measurements({ session }: { session: Session }) {
  const measurements = useSession(session, (state) => state.measurements);
  const stages = stagesOf(measurements);

  return (
    <div className="developer">
      <p>Time to the bot's first word, and to each service's first result:</p>
      <table>
        <thead>
          <tr>
            {["First word", ...stages].map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {measurements.answers.map(({ asked, heard, stages: own }) => (
            <tr key={asked}>
              <td>{seconds(heard && heard - asked)}</td>
              {stages.map((stage) => (
                <td key={stage}>{seconds(own[stage])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p>{tokensOf(measurements)}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be keyboard-accessible */}
      <pre tabIndex={0} role="group" aria-label="Events">
        {eventsAsText(measurements)}
      </pre>
      <CopyButton label="Copy the events" text={() => eventsAsText(session.state.measurements)} />
    </div>
  );
}
