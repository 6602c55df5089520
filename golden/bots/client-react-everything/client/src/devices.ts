/** The device that a track comes from. */
export function deviceOf(track: MediaStreamTrack): MediaDeviceInfo {
  const { deviceId = "", groupId = "" } = track.getSettings();
  const kind = track.kind === "audio" ? "audioinput" : "videoinput";
  const device = { deviceId, groupId, kind, label: track.label } as const;
  return { ...device, toJSON: () => device };
}
