// @ts-check
/**
 * The choice of devices.
 *
 * @typedef {object} Chosen - ids of devices; "" is the browser's own choice
 * @property {string} microphone
 * @property {string} speaker
 * @property {string} camera
 */

/** Entries that stand for another device of the list. */
const aliases = ["", "default", "communications"];

/**
 * Fills the selects, now and whenever a device comes or goes.
 *
 * @param {Partial<Record<MediaDeviceKind, HTMLSelectElement>>} selects
 * @returns {() => Promise<void>} fills them again: names are known once the person has allowed the microphone
 */
export function watchDevices(selects) {
  const refresh = async () => {
    const devices = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
    for (const [kind, select] of Object.entries(selects)) {
      const known = devices.filter((d) => d.kind === kind && d.label && !aliases.includes(d.deviceId));
      const chosen = select.value;
      select.replaceChildren(new Option("Default", ""), ...known.map((d) => new Option(d.label, d.deviceId)));
      select.value = known.some((d) => d.deviceId === chosen) ? chosen : "";
    }
  };
  navigator.mediaDevices?.addEventListener("devicechange", refresh);
  void refresh();
  return refresh;
}

/**
 * The device that a track comes from.
 *
 * @param {MediaStreamTrack} track
 * @returns {MediaDeviceInfo}
 */
export function deviceOf(track) {
  const { deviceId = "", groupId = "" } = track.getSettings();
  const kind = track.kind === "audio" ? "audioinput" : "videoinput";
  const device = { deviceId, groupId, kind, label: track.label };
  return /** @type {MediaDeviceInfo} */ ({ ...device, toJSON: () => device });
}
