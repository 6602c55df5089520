
/** What went wrong and what to do, for the person. */
export class Problem extends Error {
  /** To run in a terminal. */
  command;

  constructor(message, command) {
    super(message);
    this.command = command;
  }
}

const startBot = "uv run bot.py";

/** Why a device cannot be used; the error is that of getUserMedia or setSinkId. */
export function deviceProblem(error, device) {
  if (error instanceof Problem) return error;
  const { name, message } = error;
  switch (name) {
    case "NotAllowedError":
      return new Problem(`The ${device} is blocked. Allow it for this page in the browser's site settings.`);
    case "NotFoundError":
      return new Problem(`No ${device} was found. Plug one in.`);
    case "OverconstrainedError":
      return new Problem(`The chosen ${device} is gone. Choose another one under Settings.`);
    case "NotReadableError":
      return new Problem(`The ${device} cannot be used. Close other programs that use it.`);
  }
  return new Problem(`The ${device} cannot be used: ${message}`);
}

/** Why POST /start failed. */
export async function startProblem(response, startUrl) {
  const answer = await response.json().catch(() => ({}));
  const reason = answer.detail ?? answer.info ?? answer.error ?? response.statusText;
  switch (response.status) {
    case 401:
    case 403:
      return new Problem(
        `The bot's host refused to start a session (${response.status}). Check the API key and the agent's name.`,
      );
    case 500:
      return new Problem("The bot could not be started. Check its terminal or log.");
    case 429:
      return new Problem("All bots are busy. Wait a moment.");
    case 502:
    case 503:
    case 504:
      return noBot(answer.bot ?? startUrl);
  }
  const words = typeof reason === "string" ? reason : JSON.stringify(reason);
  return new Problem(`The bot could not be started (${response.status}): ${words}`);
}

export const noBot = (address) => new Problem(`No bot answers at ${address}. Start it in server/:`, startBot);

/** Why the page could not join the bot's room: the LiveKit server refused the key, or did not answer at its address. */
export const roomProblem = (address, refused) => {
  const [what, variables] = refused
    ? ["LiveKit refused the key", "LIVEKIT_API_KEY and LIVEKIT_API_SECRET"]
    : [`No LiveKit server answers at ${address}`, "LIVEKIT_URL"];
  return new Problem(`${what}. Check ${variables} in server/.env, then start the bot again.`, startBot);
};

/** The reason is the bot's; "" if it gave none. */
export const lost = (reason) =>
  reason
    ? new Problem(`The bot stopped: ${reason}`, /\.env/.test(reason) ? startBot : undefined)
    : new Problem("The connection to the bot was lost. Check its terminal or log.");

/** Names of variables, and paths. */
const code = /(\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\bserver\/(?:\.env)?)/;

/** The first sentence, and the others, split at what is code in them: every second piece is. */
export function parts({ message }) {
  const [what = "", todo = ""] = message.split(/(?<=\.) (.*)/s);
  return { what, todo: todo.split(code) };
}
