import { DailyTransport } from "@pipecat-ai/daily-transport";

export const request = { transport: "daily", createDailyRoom: true };

export const parameters = (answer) => ({ url: answer.dailyRoom, token: answer.dailyToken });

export const createTransport = (chosen) =>
  new DailyTransport({
    audioSource: chosen.microphone || true,
    videoSource: chosen.camera || true,
  });
