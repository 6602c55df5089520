// @ts-check
/**
 * The device menus.
 *
 * @typedef {object} Chosen - device ids; "" means the browser's default
 * @property {string} microphone
 * @property {string} speaker
 * @property {string} camera
 */

/** Entries that are aliases of another device. */
const aliases = ["", "default", "communications"];

/**
 * Fills the menus now and whenever a device is added or removed.
 *
 * @param {Partial<Record<MediaDeviceKind, HTMLSelectElement>>} selects
 * @returns {() => Promise<void>} fills them again: browsers reveal names once the microphone is allowed
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
