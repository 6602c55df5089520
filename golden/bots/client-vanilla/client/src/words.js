/** What the page says, apart from what is fixed in it and from problems.js. */
import { embedded, forDevelopers } from "./page.js";

const words = {
  idle: "Ready to talk",
  asking: "Allow the microphone",
  connecting: "Connecting",
  listening: "Listening",
  muted: "Muted",
  deaf: embedded ? "No microphone" : "No microphone: type",
  hearing: "Hearing you",
  thinking: "Thinking",
  speaking: "Speaking",
  reconnecting: "Reconnecting",
  ended: "Ended",
  failed: "Something went wrong",
};

export function moodOf(state) {
  switch (state.status) {
    case "Not connected":
      return state.problem ? "failed" : state.ended ? "ended" : "idle";
    case "Connecting":
      return state.microphone === "asked" ? "asking" : "connecting";
    case "Reconnecting":
      return "reconnecting";
    case "Disconnecting":
      return "idle";
  }
  if (state.userSpeaks) return "hearing";
  if (state.botSpeaks) return "speaking";
  if (state.botThinks) return "thinking";
  if (state.microphone === "missing") return "deaf";
  return state.muted ? "muted" : "listening";
}

/** The mood in words. */
export const wordOf = (mood) => words[mood];

/** Whether a session goes on. */
export const isConnected = ({ status }) => status === "Connected" || status === "Reconnecting";

/** Whether the bot hears nothing of the person. */
export const isOff = ({ muted, microphone }) => muted || microphone === "missing";

/** What the main button does. */
export const actionOf = (mood) =>
  mood === "idle" || mood === "ended"
    ? "Connect"
    : mood === "failed"
      ? "Retry"
      : mood === "connecting" || mood === "asking"
        ? "Cancel"
        : "Disconnect";

/** What to know about a service that is late, about a session that has ended, or about the microphone. */
export function hintOf({ microphone, checking, muted, waitsFor, ended }) {
  if (waitsFor) return forDevelopers ? `Waiting for ${waitsFor}` : "Waiting for an answer";
  if (microphone === "silent" && (checking || !muted)) {
    return `No sound from the microphone. Is it muted, or the wrong one?${embedded ? "" : " Choose another under Settings."}`;
  }
  if (!checking || microphone === "off") return ended;
  return microphone === "heard" ? "The microphone works." : "Say something.";
}
