/** An error whose message is shown to the person. */
export class Problem extends Error {}

/** Messages by the name of the DOMException that the browser throws. */
const refusals: Record<string, (device: string) => string> = {
  NotAllowedError: (device) =>
    `The ${device} is blocked. Allow it for this page in the browser's site settings, then press Connect.`,
  NotFoundError: (device) => `No ${device} was found. Plug one in, then press Connect.`,
  OverconstrainedError: (device) => `The chosen ${device} is gone. Choose another one, then press Connect.`,
  NotReadableError: (device) => `The ${device} cannot be used. Close other programs that use it, then press Connect.`,
};

/** Explains an error of getUserMedia or setSinkId. */
export function deviceProblem(error: unknown, device: "microphone" | "camera" | "speaker"): string {
  const { name, message } = error as DOMException;
  return refusals[name]?.(device) ?? `The ${device} cannot be used: ${message}`;
}

/** Explains a failed POST /start. */
export async function startProblem(response: Response, startUrl: string): Promise<string> {
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  const reason = answer.detail ?? answer.info ?? answer.error ?? response.statusText;
  switch (response.status) {
    case 401:
    case 403:
      return `The bot's host refused to start a session (${response.status}). Check the API key and the agent's name.`;
    case 429:
      return "All bots are busy. Wait a moment, then press Connect.";
    case 502:
    case 503:
    case 504:
      return noBot(typeof answer.bot === "string" ? answer.bot : startUrl);
  }
  const words = typeof reason === "string" ? reason : JSON.stringify(reason);
  return `The bot could not be started (${response.status}): ${words}`;
}

export const noBot = (address: string) => `No bot answers at ${address}. Start it with \`uv run bot.py\` in server/.`;
