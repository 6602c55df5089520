/** The transcript, as an immutable value: each function returns a new one. */
import type { BotOutputData, TranscriptData } from "@pipecat-ai/client-js";
import type { Answer } from "./measurements.ts";

/** A sentence of the bot, or what the person said between two pauses. */
interface Part {
  said: string;
  /** What the bot is about to say. */
  ahead: string;
}

export interface Entry {
  id: number;
  speaker: "user" | "bot";
  /** By segment, in the order in which they are said. */
  parts: ReadonlyMap<number, Part>;
  /** The bot's service tells which words it has spoken. */
  followed?: boolean;
  /** The bot was interrupted. */
  cutOff?: boolean;
  /** How long the bot took to answer. */
  took?: Answer;
}

export interface Conversation {
  finished: readonly Entry[];
  /** At most one for each speaker. */
  unfinished: readonly Entry[];
  nextId: number;
  /** Entries from this one on are of the last session. */
  firstId: number;
  /** The person's entry that may still grow. */
  lastUserId?: number;
  /** The bot's entry that may still change: its final words may arrive late. */
  lastBotId?: number;
}

export const emptyConversation: Conversation = { finished: [], unfinished: [], nextId: 0, firstId: 0 };

const join = (entry: Entry, which: keyof Part) =>
  [...entry.parts.values()]
    .map((part) => part[which])
    .filter(Boolean)
    .join(" ");

const isBot = ({ speaker }: Entry) => speaker === "bot";

/** What was said so far. */
export const textOf = (entry: Entry) => join(entry, "said");

/** What the bot is about to say. */
export const aheadOf = (entry: Entry) => (entry.cutOff ? "" : join(entry, "ahead"));

/** Takes in a message of the bot. */
export function hear(conversation: Conversation, { type, data }: { type: string; data?: unknown }): Conversation {
  switch (type) {
    case "user-transcription":
      return userText(conversation, data as TranscriptData);
    case "bot-output":
      return botText(conversation, data as BotOutputData);
    case "bot-interrupted":
      return change(conversation, "bot", (entry) => ({ ...entry, cutOff: !entry.followed || aheadOf(entry) !== "" }));
    case "bot-stopped-speaking":
      return botStopped(conversation);
  }
  return conversation;
}

/** Takes in a typed message; the person may be speaking at the same time. */
export function typed(conversation: Conversation, text: string): Conversation {
  const { finished, nextId } = conversation;
  const entry: Entry = { id: nextId, speaker: "user", parts: new Map([[0, { said: text, ahead: "" }]]) };
  return { ...conversation, finished: [...finished, entry], nextId: nextId + 1 };
}

/** Takes in how long the answer took that the bot is giving, of which an earlier entry may be a part. */
export function timed(conversation: Conversation, took: Answer): Conversation {
  const speaking = conversation.unfinished.find(isBot);
  return speaking && speaking.took !== took && conversation.finished.findLast(isBot)?.took !== took
    ? change(conversation, "bot", (entry) => ({ ...entry, took }))
    : conversation;
}

/** Begins another session. */
export const begun = (conversation: Conversation): Conversation => ({ ...conversation, firstId: conversation.nextId });

/** Finishes all entries at the end of a session. The next one counts its segments from zero. */
export function ended(conversation: Conversation): Conversation {
  const { finished, unfinished, nextId, firstId } = finish(finish(conversation, "user"), "bot");
  const entries = finished.map((entry) => (aheadOf(entry) ? { ...entry, cutOff: true } : entry));
  return { finished: entries, unfinished, nextId, firstId };
}

/** Interim text is replaced by the next one. */
function userText(conversation: Conversation, { text, final }: TranscriptData): Conversation {
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
  conversation: Conversation,
  {
    text,
    segment_id: segment = 0,
    will_be_spoken: spoken,
    spoken_status: status,
    spoken_progress: progress,
  }: BotOutputData,
): Conversation {
  const { finished, unfinished, lastBotId } = conversation;
  const said = spoken && progress ? progress.accumulated_text : text;
  const ahead = spoken && progress ? progress.remaining_text : "";
  const has = (entry: Entry) => entry.speaker === "bot" && entry.parts.has(segment);
  const last = finished.find((entry) => entry.id === lastBotId && has(entry));
  if (status === "new" && (last || unfinished.some(has))) return conversation;
  if (!last) return say(conversation, "bot", segment, said, ahead);
  const longer = withPart(last, segment, said, ahead);
  return { ...conversation, finished: finished.map((entry) => (entry === last ? longer : entry)) };
}

function botStopped(conversation: Conversation): Conversation {
  const bot = conversation.unfinished.find(isBot);
  return bot ? { ...finish(conversation, "bot"), lastBotId: bot.id } : conversation;
}

function say(
  conversation: Conversation,
  speaker: Entry["speaker"],
  segment: number,
  said: string,
  ahead?: string,
): Conversation {
  const { unfinished, nextId } = conversation;
  if (unfinished.some((entry) => entry.speaker === speaker)) {
    return change(conversation, speaker, (entry) => withPart(entry, segment, said, ahead));
  }
  const entry = withPart({ id: nextId, speaker, parts: new Map() }, segment, said, ahead);
  return { ...conversation, unfinished: [...unfinished, entry], nextId: nextId + 1 };
}

/** Replaces the speaker's unfinished entry, if there is one. */
function change(conversation: Conversation, speaker: Entry["speaker"], to: (entry: Entry) => Entry): Conversation {
  const { unfinished } = conversation;
  return { ...conversation, unfinished: unfinished.map((entry) => (entry.speaker === speaker ? to(entry) : entry)) };
}

function withPart(entry: Entry, segment: number, said: string, ahead = ""): Entry {
  const parts = new Map(entry.parts).set(segment, { said: said.trim(), ahead: ahead.trim() });
  const inOrder = new Map([...parts].toSorted(([one], [other]) => one - other));
  return { ...entry, parts: inOrder, followed: entry.followed || ahead !== "" };
}

/** Entries stand in the order in which they were begun: a typed one is finished before the sentence that it cuts off. */
function finish(conversation: Conversation, speaker: Entry["speaker"]): Conversation {
  const done = conversation.unfinished.filter((entry) => entry.speaker === speaker);
  return {
    ...conversation,
    finished: [...conversation.finished, ...done.filter(textOf)].toSorted((one, other) => one.id - other.id),
    unfinished: conversation.unfinished.filter((entry) => entry.speaker !== speaker),
  };
}
