import type { Transport } from "@pipecat-ai/client-js";
import { SmallWebRTCTransport } from "@pipecat-ai/small-webrtc-transport";
import type { Chosen, StartAnswer } from "./connection.ts";
import { Devices } from "./devices.ts";
import { askForIceServers } from "./settings.ts";

export const request = { transport: "webrtc", enableDefaultIceServers: askForIceServers };

export const sharesScreen = true;

export const parameters = (answer: StartAnswer, startUrl: string) => ({
  iceConfig: answer.iceConfig,
  webrtcRequestParams: {
    endpoint: startUrl.replace(/start$/, `sessions/${answer.sessionId}/api/offer`),
  },
});

/** What the package's own types leave out. */
interface Connected {
  pc?: RTCPeerConnection | null;
  addUserMedia(): Promise<void>;
}

export function createTransport(chosen: Chosen): Transport {
  const devices = new Devices(chosen, () => {
    // With media managers other than its own the package does not replace the track on the connection.
    if (transport.pc) void transport.addUserMedia();
  });
  // The package's default media manager loads code from another host, and its other one has no camera.
  const options = { mediaManager: devices } as object;
  const transport = new SmallWebRTCTransport(options) as unknown as Transport & Connected;
  // Before there is a connection, the package does not close devices, nor keep them from being opened.
  const disconnect = transport.disconnect.bind(transport);
  transport.disconnect = () => devices.disconnect().then(disconnect);
  return transport;
}

/** The bot sends audio continuously, even silence. */
export async function packets(transport: Transport) {
  let sum = 0;
  const stats = await (transport as Transport & Connected).pc?.getStats();
  stats?.forEach((report) => (sum += report.type === "inbound-rtp" ? report.packetsReceived : 0));
  return sum;
}
