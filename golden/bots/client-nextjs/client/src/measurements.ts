/** What the panel for developers shows, as an immutable value. */

/** A message of the bot. */
export interface Event {
  /** Seconds since Connect. */
  at: number;
  type: string;
  data?: unknown;
}

export interface Answer {
  /** When the person had finished, in seconds since Connect. */
  asked: number;
  /** When the bot began to speak. */
  heard?: number;
  /** Seconds to the first result of each service. */
  stages: Readonly<Record<string, number>>;
}

export interface Measurements {
  /** The newest ones. */
  events: readonly Event[];
  answers: readonly Answer[];
  tokensIn: number;
  tokensOut: number;
}

/** The data of a message `metrics`; the framework's client knows nothing of tokens. */
interface Metrics {
  ttfb?: readonly { processor: string; value: number }[];
  tokens?: readonly { prompt_tokens: number; completion_tokens: number }[];
}

/** How many events are kept. */
const kept = 500;

export const nothing: Measurements = { events: [], answers: [], tokensIn: 0, tokensOut: 0 };

/** Takes in a message of the bot; of the page, `send-text`. */
export function measure(before: Measurements, { at, type, data }: Event): Measurements {
  const now = { ...before, events: [...before.events.slice(1 - kept), { at, type, ...(data ? { data } : {}) }] };
  const answer = before.answers.at(-1);
  const withAnswer = (newer: Answer) => ({
    ...now,
    answers: [...(answer && answer.heard === undefined ? before.answers.slice(0, -1) : before.answers), newer],
  });
  switch (type) {
    case "bot-ready": // the greeting
    case "user-started-speaking":
    case "user-stopped-speaking":
    case "send-text":
      return withAnswer({ asked: at, stages: answer && answer.heard === undefined ? answer.stages : {} });
    case "bot-started-speaking":
      return answer && answer.heard === undefined ? withAnswer({ ...answer, heard: at }) : now;
    case "metrics": {
      const { tokens = [], ttfb = [] } = data as Metrics;
      for (const { prompt_tokens, completion_tokens } of tokens) {
        now.tokensIn += prompt_tokens;
        now.tokensOut += completion_tokens;
      }
      if (answer && answer.heard === undefined && ttfb.length > 0) {
        const stages = { ...answer.stages };
        for (const { processor, value } of ttfb) if (value) stages[nameOf(processor)] ??= value;
        return withAnswer({ ...answer, stages });
      }
    }
  }
  return now;
}

/** "DeepgramSTTService#0" is "Deepgram STT". */
const nameOf = (processor: string) => processor.replace(/(Service)?#\d+$/, "").replace(/(STT|LLM|TTS)$/, " $1");

/** The names of all services that were measured. */
export const stagesOf = ({ answers }: Measurements) => [
  ...new Set(answers.flatMap(({ stages }) => Object.keys(stages))),
];

/** What an answer took, in the order in which it happens: each service, and what no service says. */
export function stepsOf({ asked, heard = asked, stages }: Answer) {
  const steps = Object.entries(stages);
  const known = steps.reduce((sum, [, value]) => sum + value, 0);
  return [...steps, ["everything else", Math.max(0, heard - asked - known)] as const].filter(([, value]) => value > 0);
}

/** Seconds, for a table. */
export const seconds = (value: number | undefined) => (value === undefined ? "–" : `${value.toFixed(2)} s`);

export const tokensOf = ({ tokensIn, tokensOut }: Measurements) => `Tokens: ${tokensIn} in, ${tokensOut} out`;

/** One line for each event. */
export const eventsAsText = ({ events }: Measurements) =>
  events.map(({ at, type, data }) => `${at.toFixed(3)} ${type}${data ? ` ${JSON.stringify(data)}` : ""}`).join("\n");
