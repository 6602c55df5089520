/** The transcript, as a value: each function returns a new one. */
import type { BotOutputData, TranscriptData } from "@pipecat-ai/client-js";

export type Speaker = "You" | "Bot";

export interface Entry {
  readonly id: number;
  readonly speaker: Speaker;
  /** What was said, by segment: of a segment, what was spoken so far. */
  readonly parts: ReadonlyMap<number, string>;
}

export interface Conversation {
  readonly finished: readonly Entry[];
  /** What is still being said; at most one entry of each speaker. */
  readonly unfinished: readonly Entry[];
  readonly nextId: number;
  /** The person's entry that may still grow. */
  readonly lastUserId?: number;
  /** The bot's entry that may still change: its last words can be reported after it fell silent. */
  readonly lastBotId?: number;
}

export const emptyConversation: Conversation = { finished: [], unfinished: [], nextId: 0 };

export function textOf(entry: Entry): string {
  return [...entry.parts.values()].filter(Boolean).join(" ");
}

/** What the person said: a text that is not final is replaced by the next one. */
export function userText(conversation: Conversation, { text, final }: Pick<TranscriptData, "text" | "final">) {
  const last = conversation.finished.at(-1);
  const botSpeaks = conversation.unfinished.some((entry) => entry.speaker === "Bot");
  if (final && last && last.id === conversation.lastUserId && !botSpeaks) {
    // A sentence comes in pieces: they make one entry as long as nobody else says anything.
    const longer = withPart(last, last.parts.size, text);
    return { ...conversation, finished: [...conversation.finished.slice(0, -1), longer], unfinished: [] };
  }
  const said = say(conversation, "You", 0, text);
  if (!final) return said;
  return { ...finish(said, "You"), lastUserId: said.unfinished.find((entry) => entry.speaker === "You")?.id };
}

/** What the person typed; they may be speaking, too. */
export function typed(conversation: Conversation, text: string): Conversation {
  const { finished, nextId } = conversation;
  const entry: Entry = { id: nextId, speaker: "You", parts: new Map([[0, text]]) };
  return { ...conversation, finished: [...finished, entry], nextId: nextId + 1 };
}

/** What the bot says; what it speaks, as far as it has spoken it. */
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

/** The session is over: nothing more comes, and the next one counts its segments anew. */
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
