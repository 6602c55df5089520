import { DailyTransport } from "@pipecat-ai/daily-transport";
import type { Chosen, StartAnswer } from "./connection.ts";

export const request = { transport: "daily", createDailyRoom: true };

export const parameters = (answer: StartAnswer) => ({ url: answer.dailyRoom, token: answer.dailyToken });

export const createTransport = (chosen: Chosen) =>
  new DailyTransport({
    audioSource: chosen.microphone || true,
    videoSource: chosen.camera || true,
  });
