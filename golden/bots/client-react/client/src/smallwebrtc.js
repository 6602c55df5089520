// @ts-check
import { SmallWebRTCTransport } from "@pipecat-ai/small-webrtc-transport";
import { Devices } from "./devices.js";
import { askForIceServers } from "./settings.js";

export const request = { transport: "webrtc", enableDefaultIceServers: askForIceServers };

/** @type {import("./connection.js").Connection["parameters"]} */
export const parameters = (answer, startUrl) => ({
  iceConfig: answer.iceConfig,
  webrtcRequestParams: {
    endpoint: startUrl.replace(/start$/, `sessions/${answer.sessionId}/api/offer`),
  },
});

/** @type {import("./connection.js").Connection["createTransport"]} */
export function createTransport(chosen) {
  const devices = new Devices(chosen, () => {
    // With media managers other than its own the package does not replace the track on the connection.
    // @ts-ignore: both are missing from its types
    if (transport.pc) void transport.addUserMedia();
  });
  // The package's default media manager loads code from another host, and its other one has no camera.
  const mediaManager = /** @type {any} */ (devices);
  const transport = new SmallWebRTCTransport({ mediaManager });
  return transport;
}

/**
 * The bot sends audio continuously, even silence.
 *
 * @type {NonNullable<import("./connection.js").Connection["packets"]>}
 */
export async function packets(transport) {
  let sum = 0;
  // @ts-ignore: the connection is missing from its types
  const stats = await transport.pc?.getStats();
  stats?.forEach((/** @type {any} */ report) => (sum += report.type === "inbound-rtp" ? report.packetsReceived : 0));
  return sum;
}
