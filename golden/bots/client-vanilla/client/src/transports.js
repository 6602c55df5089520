// @ts-check
/**
 * How to reach the bot. Each transport is loaded on demand, which keeps the page small.
 *
 * @typedef {object} Connection
 * @property {object} request - body of POST /start
 * @property {(answer: any, startUrl: string) => object} parameters - parameters of client.connect(), from the answer
 * @property {(chosen: import("./devices.js").Chosen) => import("@pipecat-ai/client-js").Transport} createTransport
 * @property {(transport: import("@pipecat-ai/client-js").Transport) => Promise<number>} [packets] - received so far
 */

/** @type {Record<string, () => Promise<Connection>>} */
export const transports = {
  webrtc: () => import("./smallwebrtc.js"),
};

/** The default. */
export const [defaultTransport] = Object.keys(transports);
