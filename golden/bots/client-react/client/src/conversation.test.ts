import assert from "node:assert/strict";
import { test } from "node:test";
import { type Conversation, emptyConversation, hear, textOf } from "./conversation.ts";

/** What the bot reports of a sentence; without `spoken`, it is new. */
function output(segment_id: number, text: string, spoken?: string) {
  const progress = { accumulated_text: spoken ?? "", remaining_text: text.slice(spoken?.length ?? 0) };
  const data = {
    text,
    segment_id,
    will_be_spoken: true,
    spoken_status: spoken ? "" : "new",
    spoken_progress: progress,
  };
  return { type: "bot-output", data };
}

const shown = ({ finished, unfinished }: Conversation) =>
  [...finished, ...unfinished].map((entry) => `${entry.speaker}: ${textOf(entry)}`);

test("a sentence that is spoken before it is announced stays where it was said", () => {
  const said = [
    output(1, "Hello!", "Hello!"),
    { type: "bot-started-speaking" },
    output(1, "Hello!"),
    output(2, "How can I help?"),
    output(2, "How can I help?", "How can"),
  ].reduce(hear, emptyConversation);
  assert.deepEqual(shown(said), ["bot: Hello! How can"]);
});

test("what a person says in pieces is one entry", () => {
  const said = ["I would like", "a table for two."]
    .map((text) => ({ type: "user-transcription", data: { text, final: true } }))
    .reduce(hear, emptyConversation);
  assert.deepEqual(shown(said), ["user: I would like a table for two."]);
});

test("an answer that is interrupted is cut off", () => {
  const said = [output(1, "Once upon a time.", "Once upon"), { type: "bot-interrupted" }].reduce(
    hear,
    emptyConversation,
  );
  assert.equal(said.unfinished[0]?.cutOff, true);
});
