import { DailyTransport } from "@pipecat-ai/daily-transport";
import type { Connection } from "./transports";

export const request = { transport: "daily", createDailyRoom: true };

export const parameters: Connection["parameters"] = (answer) => ({ url: answer.dailyRoom, token: answer.dailyToken });

export const createTransport: Connection["createTransport"] = (chosen) =>
  new DailyTransport({
    audioSource: chosen.microphone || true,
    videoSource: chosen.camera || true,
  });
