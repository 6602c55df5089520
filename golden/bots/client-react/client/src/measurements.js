// @ts-check
/**
 * What the panel for developers shows, as an immutable value.
 *
 * @typedef {object} Event - a message of the bot
 * @property {number} at - seconds since Connect
 * @property {string} type
 * @property {unknown} [data]
 *
 * @typedef {object} Answer
 * @property {number} asked - when the person had finished, in seconds since Connect
 * @property {number} [heard] - when the bot began to speak
 * @property {Record<string, number>} stages - seconds to the first result of each service
 *
 * @typedef {object} Measurements
 * @property {readonly Event[]} events - the newest ones
 * @property {readonly Answer[]} answers
 * @property {number} tokensIn
 * @property {number} tokensOut
 */

/** How many events are kept. */
const kept = 500;

/** @type {Measurements} */
export const nothing = { events: [], answers: [], tokensIn: 0, tokensOut: 0 };

/**
 * @param {Measurements} before
 * @param {number} at
 * @param {{ type: string, data?: any }} message - of the bot; of the page: `send-text`
 * @returns {Measurements}
 */
export function measure(before, at, { type, data }) {
  const now = { ...before, events: [...before.events.slice(1 - kept), { at, type, ...(data && { data }) }] };
  const answer = before.answers.at(-1);
  const withAnswer = (/** @type {Answer} */ newer) => ({
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
    case "metrics":
      for (const { prompt_tokens, completion_tokens } of data.tokens ?? []) {
        now.tokensIn += prompt_tokens;
        now.tokensOut += completion_tokens;
      }
      if (answer && answer.heard === undefined && data.ttfb) {
        const stages = { ...answer.stages };
        for (const { processor, value } of data.ttfb) if (value) stages[nameOf(processor)] ??= value;
        return withAnswer({ ...answer, stages });
      }
  }
  return now;
}

/** "DeepgramSTTService#0" is "Deepgram STT". */
const nameOf = (/** @type {string} */ processor) =>
  processor.replace(/(Service)?#\d+$/, "").replace(/(STT|LLM|TTS)$/, " $1");

/** The names of all services that were measured. */
export const stagesOf = (/** @type {Measurements} */ { answers }) => [
  ...new Set(answers.flatMap(({ stages }) => Object.keys(stages))),
];

/** Seconds, for a table. */
export const seconds = (/** @type {number | undefined} */ value) => (value === undefined ? "–" : `${value.toFixed(2)} s`);

export const tokensOf = (/** @type {Measurements} */ { tokensIn, tokensOut }) => `Tokens: ${tokensIn} in, ${tokensOut} out`;

/** One line for each event. */
export const asText = (/** @type {Measurements} */ { events }) =>
  events.map(({ at, type, data }) => `${at.toFixed(3)} ${type}${data ? ` ${JSON.stringify(data)}` : ""}`).join("\n");
