import assert from "node:assert/strict";
import { test } from "node:test";
import { type Conversation, emptyConversation, hear, textOf, timed, typed } from "./conversation.ts";

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

test("what is typed over the bot stands below the sentence that it cuts off", () => {
  const spoken = hear(emptyConversation, output(1, "Once upon a time.", "Once upon"));
  const said = [{ type: "bot-interrupted" }, { type: "bot-stopped-speaking" }].reduce(hear, typed(spoken, "Stop."));
  assert.deepEqual(shown(said), ["bot: Once upon", "user: Stop."]);
  assert.equal(said.finished[0]?.cutOff, true);
});

test("the time of an answer is told once, though typing parts the answer", () => {
  const took = { asked: 0, heard: 1, stages: {} };
  const first = timed(hear(emptyConversation, output(1, "Hello.", "Hello.")), took);
  const said = [{ type: "bot-stopped-speaking" }, output(2, "There.", "There.")].reduce(hear, first);
  assert.equal(shown(timed(said, took)).length, 2);
  assert.equal(timed(said, took).unfinished[0]?.took, undefined);
});
