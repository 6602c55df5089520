// @ts-check
/**
 * What a transport has to provide, and what it may use. transports.js lists the transports.
 *
 * @typedef {object} Connection - what the module of a transport exports
 * @property {object} request - body of POST /start
 * @property {(answer: StartAnswer, startUrl: string) => object} parameters - of client.connect()
 * @property {(chosen: Chosen) => import("@pipecat-ai/client-js").Transport} createTransport
 * @property {(transport: import("@pipecat-ai/client-js").Transport) => Promise<number>} [packets] - received so far
 * @property {boolean} [sharesScreen] - whether client.updateCam("screen") shows the screen in place of the camera
 *
 * @typedef {Record<string, any>} StartAnswer - of POST /start; its fields depend on the transport
 *
 * @typedef {object} Chosen - device ids; "" means the browser's default
 * @property {string} microphone
 * @property {string} speaker
 * @property {string} camera
 */

/**
 * The device that a track comes from.
 *
 * @param {MediaStreamTrack} track
 * @returns {MediaDeviceInfo}
 */
export function deviceOf(track) {
  const { deviceId = "", groupId = "" } = track.getSettings();
  /** @type {MediaDeviceKind} */
  const kind = track.kind === "audio" ? "audioinput" : "videoinput";
  const device = { deviceId, groupId, kind, label: track.label };
  return { ...device, toJSON: () => device };
}
