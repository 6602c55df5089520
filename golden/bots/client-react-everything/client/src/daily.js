// @ts-check
import { DailyTransport } from "@pipecat-ai/daily-transport";

export const request = { transport: "daily", createDailyRoom: true };

/** @type {import("./connection.js").Connection["parameters"]} */
export const parameters = (answer) => ({ url: answer.dailyRoom, token: answer.dailyToken });

/** @type {import("./connection.js").Connection["createTransport"]} */
export const createTransport = (chosen) =>
  new DailyTransport({
    audioSource: chosen.microphone || true,
    videoSource: chosen.camera || true,
  });
