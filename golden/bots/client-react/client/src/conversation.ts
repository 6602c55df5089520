/** The transcript, as an immutable value: each function returns a new one. */
import type { BotOutputData, TranscriptData } from "@pipecat-ai/client-js";

export type Speaker = "You" | "Bot";

export interface Entry {
  readonly id: number;
  readonly speaker: Speaker;
  /** Text by segment; for a segment in progress, what has been spoken so far. */
  readonly parts: ReadonlyMap<number, string>;
}

export interface Conversation {
  readonly finished: readonly Entry[];
  /** Unfinished entries, at most one for each speaker. */
  readonly unfinished: readonly Entry[];
  readonly nextId: number;
  /** The person's entry that may still grow. */
  readonly lastUserId?: number;
  /** The bot's entry that may still change: its final words may arrive just after it stops speaking. */
  readonly lastBotId?: number;
}

export const emptyConversation: Conversation = { finished: [], unfinished: [], nextId: 0 };

export function textOf(entry: Entry): string {
  return [...entry.parts.values()].filter(Boolean).join(" ");
}

/** Speech of the person; interim text is replaced by the next event. */
export function userText(conversation: Conversation, { text, final }: Pick<TranscriptData, "text" | "final">) {
  const last = conversation.finished.at(-1);
  const botSpeaks = conversation.unfinished.some((entry) => entry.speaker === "Bot");
  if (final && last && last.id === conversation.lastUserId && !botSpeaks) {
    // Speech arrives in pieces, which form one entry until someone else speaks.
    const longer = withPart(last, last.parts.size, text);
    return { ...conversation, finished: [...conversation.finished.slice(0, -1), longer], unfinished: [] };
  }
  const said = say(conversation, "You", 0, text);
  if (!final) return said;
  return { ...finish(said, "You"), lastUserId: said.unfinished.find((entry) => entry.speaker === "You")?.id };
}

/** A typed message; the person may be speaking at the same time. */
export function typed(conversation: Conversation, text: string): Conversation {
  const { finished, nextId } = conversation;
  const entry: Entry = { id: nextId, speaker: "You", parts: new Map([[0, text]]) };
  return { ...conversation, finished: [...finished, entry], nextId: nextId + 1 };
}

/** Output of the bot: text, and speech as far as it has been spoken. */
export function botText(conversation: Conversation, data: BotOutputData): Conversation {
  const { text, segment_id: segment = 0, will_be_spoken: spoken, spoken_progress: progress } = data;
  const said = spoken && progress ? progress.accumulated_text : text;
  const last = conversation.finished.find((entry) => entry.id === conversation.lastBotId);
  if (!last?.parts.has(segment)) return say(conversation, "Bot", segment, said);
  return {
    ...conversation,
    finished: conversation.finished.map((entry) => (entry === last ? withPart(entry, segment, said) : entry)),
  };
}

export function botStopped(conversation: Conversation): Conversation {
  const bot = conversation.unfinished.find((entry) => entry.speaker === "Bot");
  return bot ? { ...finish(conversation, "Bot"), lastBotId: bot.id } : conversation;
}

/** Finishes all entries at the end of a session. The next one counts its segments from zero. */
export function sessionEnded(conversation: Conversation): Conversation {
  return { ...finish(finish(conversation, "You"), "Bot"), lastUserId: undefined, lastBotId: undefined };
}

function say(conversation: Conversation, speaker: Speaker, segment: number, text: string): Conversation {
  const { unfinished, nextId } = conversation;
  if (!unfinished.some((entry) => entry.speaker === speaker)) {
    const entry: Entry = { id: nextId, speaker, parts: new Map([[segment, text.trim()]]) };
    return { ...conversation, unfinished: [...unfinished, entry], nextId: nextId + 1 };
  }
  return {
    ...conversation,
    unfinished: unfinished.map((entry) => (entry.speaker === speaker ? withPart(entry, segment, text) : entry)),
  };
}

function withPart(entry: Entry, segment: number, text: string): Entry {
  return { ...entry, parts: new Map(entry.parts).set(segment, text.trim()) };
}

function finish(conversation: Conversation, speaker: Speaker): Conversation {
  const done = conversation.unfinished.filter((entry) => entry.speaker === speaker);
  return {
    ...conversation,
    finished: [...conversation.finished, ...done.filter(textOf)],
    unfinished: conversation.unfinished.filter((entry) => entry.speaker !== speaker),
  };
}
