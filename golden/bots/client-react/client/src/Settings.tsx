import { useEffect } from "react";
import type { Session } from "./session.ts";
import { useSession } from "./useSession.ts";

/** Menus for microphone and speaker. */
export function Settings({ session }: { session: Session }) {
  const chosen = useSession(session, (state) => state.chosen);
  const devices = useSession(session, (state) => state.devices);

  useEffect(() => session.watchDevices(), [session]);

  return (
    <details>
      <summary>Settings</summary>
      <div className="settings">
        <DeviceSelect
          label="Microphone"
          devices={devices.filter(({ kind }) => kind === "audioinput")}
          chosen={chosen.microphone}
          onChoose={(microphone) => session.choose({ microphone })}
        />
        {"setSinkId" in HTMLMediaElement.prototype && (
          <DeviceSelect
            label="Speaker"
            devices={devices.filter(({ kind }) => kind === "audiooutput")}
            chosen={chosen.speaker}
            onChoose={(speaker) => session.choose({ speaker })}
          />
        )}
      </div>
    </details>
  );
}

interface DeviceSelectProps {
  label: string;
  devices: readonly MediaDeviceInfo[];
  chosen: string;
  onChoose: (id: string) => void;
}

function DeviceSelect({ label, devices, chosen, onChoose }: DeviceSelectProps) {
  return (
    <label>
      {label}
      <select value={chosen} onChange={(event) => onChoose(event.target.value)}>
        <option value="">Default</option>
        {devices.map(({ deviceId, label: name }) => (
          <option key={deviceId} value={deviceId}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
