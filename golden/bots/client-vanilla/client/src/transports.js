// @ts-check
/**
 * How to reach the bot. What a connection needs is loaded when it is chosen, so that the page itself stays small.
 *
 * @typedef {object} Connection
 * @property {object} request - what POST /start is asked for
 * @property {(answer: any, startUrl: string) => object} parameters - what client.connect() makes of the answer
 * @property {(chosen: import("./devices.js").Chosen) => import("@pipecat-ai/client-js").Transport} createTransport
 * @property {(transport: import("@pipecat-ai/client-js").Transport) => Promise<number>} [packets] - that came so far
 */

/** @type {Record<string, () => Promise<Connection>>} */
export const transports = {
  webrtc: () => import("./smallwebrtc.js"),
};

/** The one that is used where there is no choice. */
export const [defaultTransport] = Object.keys(transports);
