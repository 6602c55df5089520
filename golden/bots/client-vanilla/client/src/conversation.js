/** The transcript, as an immutable value: each function returns a new one. */

export const emptyConversation = { finished: [], unfinished: [], nextId: 0, firstId: 0 };

const join = (entry, which) =>
  [...entry.parts.values()]
    .map((part) => part[which])
    .filter(Boolean)
    .join(" ");

const isBot = ({ speaker }) => speaker === "bot";

/** What was said so far. */
export const textOf = (entry) => join(entry, "said");

/** What the bot is about to say. */
export const aheadOf = (entry) => (entry.cutOff ? "" : join(entry, "ahead"));

/** Takes in a message of the bot. */
export function hear(conversation, { type, data }) {
  switch (type) {
    case "user-transcription":
      return userText(conversation, data);
    case "bot-output":
      return botText(conversation, data);
    case "bot-interrupted":
      return change(conversation, "bot", (entry) => ({ ...entry, cutOff: !entry.followed || aheadOf(entry) !== "" }));
    case "bot-stopped-speaking":
      return botStopped(conversation);
  }
  return conversation;
}

/** Takes in a typed message; the person may be speaking at the same time. */
export function typed(conversation, text) {
  const { finished, nextId } = conversation;
  const entry = { id: nextId, speaker: "user", parts: new Map([[0, { said: text, ahead: "" }]]) };
  return { ...conversation, finished: [...finished, entry], nextId: nextId + 1 };
}

/** Takes in how long the answer took that the bot is giving, of which an earlier entry may be a part. */
export function timed(conversation, took) {
  const speaking = conversation.unfinished.find(isBot);
  return speaking && speaking.took !== took && conversation.finished.findLast(isBot)?.took !== took
    ? change(conversation, "bot", (entry) => ({ ...entry, took }))
    : conversation;
}

/** Begins another session. */
export const begun = (conversation) => ({ ...conversation, firstId: conversation.nextId });

/** Finishes all entries at the end of a session. The next one counts its segments from zero. */
export function ended(conversation) {
  const { finished, unfinished, nextId, firstId } = finish(finish(conversation, "user"), "bot");
  const entries = finished.map((entry) => (aheadOf(entry) ? { ...entry, cutOff: true } : entry));
  return { finished: entries, unfinished, nextId, firstId };
}

/** Interim text is replaced by the next one. */
function userText(conversation, { text, final }) {
  const last = conversation.finished.at(-1);
  const botSpeaks = conversation.unfinished.some(isBot);
  if (final && last && last.id === conversation.lastUserId && !botSpeaks) {
    // Speech arrives in pieces, which form one entry until someone else speaks.
    const longer = withPart(last, last.parts.size, text);
    return { ...conversation, finished: [...conversation.finished.slice(0, -1), longer], unfinished: [] };
  }
  const said = say(conversation, "user", 0, text);
  if (!final) return said;
  return { ...finish(said, "user"), lastUserId: said.unfinished.find(({ speaker }) => speaker === "user")?.id };
}

/**
 * Text, and speech as far as it has been spoken. The framework reports spoken words immediately, but a new sentence only
 * when the bot starts to speak, so what is already known about a sentence is newer.
 */
function botText(
  conversation,
  { text, segment_id: segment = 0, will_be_spoken: spoken, spoken_status: status, spoken_progress: progress },
) {
  const { finished, unfinished, lastBotId } = conversation;
  const said = spoken && progress ? progress.accumulated_text : text;
  const ahead = spoken && progress ? progress.remaining_text : "";
  const has = (entry) => entry.speaker === "bot" && entry.parts.has(segment);
  const last = finished.find((entry) => entry.id === lastBotId && has(entry));
  if (status === "new" && (last || unfinished.some(has))) return conversation;
  if (!last) return say(conversation, "bot", segment, said, ahead);
  const longer = withPart(last, segment, said, ahead);
  return { ...conversation, finished: finished.map((entry) => (entry === last ? longer : entry)) };
}

function botStopped(conversation) {
  const bot = conversation.unfinished.find(isBot);
  return bot ? { ...finish(conversation, "bot"), lastBotId: bot.id } : conversation;
}

function say(conversation, speaker, segment, said, ahead) {
  const { unfinished, nextId } = conversation;
  if (unfinished.some((entry) => entry.speaker === speaker)) {
    return change(conversation, speaker, (entry) => withPart(entry, segment, said, ahead));
  }
  const entry = withPart({ id: nextId, speaker, parts: new Map() }, segment, said, ahead);
  return { ...conversation, unfinished: [...unfinished, entry], nextId: nextId + 1 };
}

/** Replaces the speaker's unfinished entry, if there is one. */
function change(conversation, speaker, to) {
  const { unfinished } = conversation;
  return { ...conversation, unfinished: unfinished.map((entry) => (entry.speaker === speaker ? to(entry) : entry)) };
}

function withPart(entry, segment, said, ahead = "") {
  const parts = new Map(entry.parts).set(segment, { said: said.trim(), ahead: ahead.trim() });
  const inOrder = new Map([...parts].toSorted(([one], [other]) => one - other));
  return { ...entry, parts: inOrder, followed: entry.followed || ahead !== "" };
}

/** Entries stand in the order in which they were begun: a typed one is finished before the sentence that it cuts off. */
function finish(conversation, speaker) {
  const done = conversation.unfinished.filter((entry) => entry.speaker === speaker);
  return {
    ...conversation,
    finished: [...conversation.finished, ...done.filter(textOf)].toSorted((one, other) => one.id - other.id),
    unfinished: conversation.unfinished.filter((entry) => entry.speaker !== speaker),
  };
}
