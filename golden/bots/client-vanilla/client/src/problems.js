// @ts-check

/** An error whose message is shown to the person. */
export class Problem extends Error {}

/** Messages by the name of the DOMException that the browser throws. */
const refusals = {
  /** @param {string} device */
  NotAllowedError: (device) =>
    `The ${device} is blocked. Allow it for this page in the browser's site settings, then press Connect.`,
  /** @param {string} device */
  NotFoundError: (device) => `No ${device} was found. Plug one in, then press Connect.`,
  /** @param {string} device */
  OverconstrainedError: (device) => `The chosen ${device} is gone. Choose another one, then press Connect.`,
  /** @param {string} device */
  NotReadableError: (device) => `The ${device} cannot be used. Close other programs that use it, then press Connect.`,
};

/**
 * Explains why a device cannot be used.
 *
 * @param {unknown} error - of getUserMedia or setSinkId
 * @param {"microphone" | "camera" | "speaker"} device
 */
export function deviceProblem(error, device) {
  const { name, message } = /** @type {DOMException} */ (error);
  const words = refusals[/** @type {keyof typeof refusals} */ (name)];
  return words ? words(device) : `The ${device} cannot be used: ${message}`;
}

/**
 * Explains a failed POST /start.
 *
 * @param {Response} response - of POST /start
 * @param {string} startUrl
 */
export async function startProblem(response, startUrl) {
  const answer = await response.json().catch(() => ({}));
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
      return noBot(answer.bot ?? startUrl);
  }
  return `The bot could not be started (${response.status}): ${typeof reason === "string" ? reason : JSON.stringify(reason)}`;
}

/** @param {string} address */
export const noBot = (address) => `No bot answers at ${address}. Start it with \`uv run bot.py\` in server/.`;
