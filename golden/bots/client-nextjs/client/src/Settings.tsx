import { useEffect } from "react";
import type { Session } from "./session.ts";
import { transports } from "./transports.ts";
import { useSession } from "./useSession.ts";

/** The connection, and menus for microphone, speaker and camera. */
export function Settings({ session }: { session: Session }) {
  const chosen = useSession(session, (state) => state.chosen);
  const devices = useSession(session, (state) => state.devices);
  const transport = useSession(session, (state) => state.transport);
  const idle = useSession(session, (state) => state.status === "Not connected");

  useEffect(() => session.watchDevices(), [session]);

  return (
    <details>
      <summary>Settings</summary>
      <div className="settings">
        <label>
          Connection
          <select value={transport} disabled={!idle} onChange={(event) => session.take(event.target.value)}>
            {Object.entries(transports).map(([name, { label }]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
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
        <DeviceSelect
          label="Camera device"
          devices={devices.filter(({ kind }) => kind === "videoinput")}
          chosen={chosen.camera}
          onChoose={(camera) => session.choose({ camera })}
        />
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
