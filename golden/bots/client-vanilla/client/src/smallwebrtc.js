import { SmallWebRTCTransport } from "@pipecat-ai/small-webrtc-transport";

import { Devices } from "./devices.js";
import { askForIceServers } from "./settings.js";

export const request = { transport: "webrtc", enableDefaultIceServers: askForIceServers };

export const parameters = (answer, startUrl) => ({
  iceConfig: answer.iceConfig,
  webrtcRequestParams: {
    endpoint: startUrl.replace(/start$/, `sessions/${answer.sessionId}/api/offer`),
  },
});

export function createTransport(chosen) {
  const devices = new Devices(chosen, () => {
    // With media managers other than its own the package does not replace the track on the connection.
    if (transport.pc) void transport.addUserMedia();
  });
  // The package's default media manager loads code from another host, and its other one has no camera.
  const options = { mediaManager: devices };
  const transport = new SmallWebRTCTransport(options);
  // Before there is a connection, the package does not close devices, nor keep them from being opened.
  const disconnect = transport.disconnect.bind(transport);
  transport.disconnect = () => devices.disconnect().then(disconnect);
  return transport;
}

/** The bot sends audio continuously, even silence. */
export async function packets(transport) {
  let sum = 0;
  const stats = await transport.pc?.getStats();
  stats?.forEach((report) => (sum += report.type === "inbound-rtp" ? report.packetsReceived : 0));
  return sum;
}
