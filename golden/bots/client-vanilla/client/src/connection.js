/** What a transport has to provide, and what it may use. transports.js lists the transports. */

/** The device that a track comes from. */
export function deviceOf(track) {
  const { deviceId = "", groupId = "" } = track.getSettings();
  const kind = track.kind === "audio" ? "audioinput" : "videoinput";
  const device = { deviceId, groupId, kind, label: track.label };
  return { ...device, toJSON: () => device };
}
