import { embedded, forDevelopers } from "./page.ts";

/** What went wrong and what to do, for the person. */
export class Problem extends Error {
  /** A command to run in a terminal. */
  command?: string;

  constructor(message: string, command?: string) {
    super(message);
    this.command = command;
  }
}

const startBot = "uv run bot.py";

/** Tells the bot's developer what to do about it, and everybody else what they can do. */
const problem = (toOthers: string, toDevelopers: string, command?: string) =>
  forDevelopers ? new Problem(toDevelopers, command) : new Problem(toOthers);

const notStarted = "The bot could not be started. Try again later.";
const notReached = "The bot could not be reached. Check your connection, or try again later.";

/** Why a device cannot be used; the error is that of getUserMedia or setSinkId. */
export function deviceProblem(error: unknown, device: "microphone" | "camera" | "speaker" | "screen") {
  if (error instanceof Problem) return error;
  const { name } = error as DOMException;
  const type = device === "microphone" && !embedded ? ", or type" : "";
  const choose = embedded ? "" : ` Choose another one under Settings${type}.`;
  switch (name) {
    case "NotAllowedError":
      return new Problem(`The ${device} is blocked. Allow it for this page in the browser's site settings${type}.`);
    case "NotFoundError":
      return new Problem(`No ${device} was found. Plug one in${type}.`);
    case "OverconstrainedError":
      return new Problem(`The chosen ${device} is gone.${choose}`);
    case "NotReadableError":
      return new Problem(`The ${device} cannot be used. Close other programs that use it${type}.`);
  }
  return new Problem(`The ${device} cannot be used.${choose}`);
}

/** Browsers hide the microphone from such pages. */
export const insecure = new Problem(
  `The microphone cannot be used here. Browsers allow it only over https or on localhost. Open this page that way${embedded ? "" : ", or type"}.`,
);

/** Why POST /start failed. */
export async function startProblem(response: Response, startUrl: string) {
  const answer: { detail?: unknown; info?: unknown; error?: unknown; bot?: string } = await response
    .json()
    .catch(() => ({}));
  const busy = "All bots are busy. Wait a moment.";
  switch (response.status) {
    case 401:
    case 403:
      return problem(
        notStarted,
        `The bot's host refused to start a session (${response.status}). Check the API key and the agent's name.`,
      );
    case 500:
      return problem(notStarted, "The bot could not be started. Check its terminal or log.");
    case 429:
      return new Problem(busy);
    case 503:
      if (answer.detail) return new Problem(busy); // from the bot itself
      return noBot(answer.bot ?? startUrl);
    case 502:
    case 504:
      return noBot(answer.bot ?? startUrl);
  }
  const reason = answer.detail ?? answer.info ?? answer.error ?? response.statusText;
  const words = typeof reason === "string" ? reason : JSON.stringify(reason);
  return problem(notStarted, `The bot could not be started (${response.status}): ${words}`);
}

export const noBot = (address: string) =>
  problem(notReached, `No bot answers at ${address}. Start it in server/:`, startBot);

/** Something else answers at the address where sessions start. */
export const notABot = (startUrl: string) =>
  problem(notStarted, `What answers at ${startUrl} is not a bot. Check the addresses in client/.env.`);

/** A part of the page could not be loaded. */
export const unloaded = new Problem(
  "Part of the page could not be loaded. Check your connection, then reload the page.",
);

/** The browser plays sound only after the person has pressed something. */
export const mayNotPlay = new Problem("The browser does not play the bot's voice by itself. Press anywhere on this page to hear it.");

export const late = (seconds: number) =>
  problem(notReached, `The bot did not answer within ${seconds} seconds. Check its terminal or log.`);

/** The reason is the browser's or a package's. */
export const unreachable = (reason: string) => problem(notReached, `The bot could not be reached: ${reason}.`);

/** A service failed, and the session goes on; `what` is a sentence of monitor.py. */
export const failed = (what: string) => problem("The bot could not answer. Try again.", what);

/** The reason is the bot's; "" if it gave none. */
export const lost = (reason: string) =>
  reason
    ? problem(
        "The bot stopped. Try again later.",
        `The bot stopped: ${reason}`,
        /\.env/.test(reason) ? startBot : undefined,
      )
    : problem(
        "The connection to the bot was lost. Connect again.",
        "The connection to the bot was lost. Check its terminal or log.",
      );

/** Why the bot has ended the session, by its word for that. */
export function endingOf(why: string, minutes?: number) {
  if (why === "silence" && minutes) return `Nobody spoke for ${minutes} minutes.`;
  if (why === "stopped") return "The bot stopped. Try again later.";
  return why === "time" ? "The time for this conversation is over." : "The bot has ended the conversation.";
}

/** Names of variables, and paths. */
const code = /(\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\bserver\/(?:\.env)?)/;

/** The first sentence, and the others, split at what is code in them: every second piece is. */
export function parts({ message }: Problem) {
  const [what = "", todo = ""] = message.split(/(?<=\.) (.*)/s);
  return { what, todo: todo.split(code) };
}
