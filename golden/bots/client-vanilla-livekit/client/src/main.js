// @ts-check
/** The page: shows the state of the session, and passes on what the person does. */
import { asText } from "./measurements.js";
import { showLevels } from "./presence.js";
import { deviceProblem } from "./problems.js";
import { followEnd } from "./scroll.js";
import { Session } from "./session.js";
import { copyOnClick, showConversation, showMeasurements, showProblem } from "./views.js";
import { actionOf, hintOf, moodOf, wordOf } from "./words.js";

/** @returns {any} the element of index.html with the id */
const element = (/** @type {string} */ id) => document.getElementById(id);

const session = new Session();
const connect = element("connect");
const message = element("message");
const speaker = element("speaker");
const botAudio = element("botAudio");
const canChooseSpeaker = "setSinkId" in HTMLMediaElement.prototype;

/** Shows a track; a new stream only for a new track, because each one starts anew. */
function play(/** @type {HTMLMediaElement} */ media, /** @type {MediaStreamTrack | undefined} */ track) {
  const stream = /** @type {MediaStream | null} */ (media.srcObject);
  if (stream?.getTracks()[0] === track) return;
  media.srcObject = track ? new MediaStream([track]) : null;
}

function showDevices(
  /** @type {HTMLSelectElement} */ select,
  /** @type {MediaDeviceKind} */ kind,
  /** @type {string} */ chosen,
) {
  const known = session.state.devices.filter((device) => device.kind === kind);
  const names = known.map(({ deviceId }) => deviceId).join();
  if (select.dataset.names !== names) {
    select.dataset.names = names;
    select.replaceChildren(new Option("Default", ""), ...known.map((d) => new Option(d.label, d.deviceId)));
  }
  select.value = known.some(({ deviceId }) => deviceId === chosen) ? chosen : "";
}

function show() {
  const { state } = session;
  const { status, conversation, microphone, checking } = state;
  const connected = status === "Connected" || status === "Reconnecting";
  const mood = moodOf(state);
  element("page").dataset.view = connected || conversation.nextId > 0 ? "talk" : "start";
  element("stage").dataset.mood = mood;
  element("status").textContent = element("status").dataset.status = status;
  element("mood").textContent = wordOf(mood);
  element("lead").hidden = mood !== "idle";
  showProblem(element("problem"), state.problem, connected ? () => session.report() : undefined);

  connect.textContent = actionOf(mood);
  connect.className = mood === "idle" || mood === "failed" ? "main" : "toggle leave";
  element("mute").hidden = !connected;
  element("mute").textContent = state.muted ? "Unmute" : "Mute";
  element("mute").className = state.muted ? "toggle mute off" : "toggle mute";
  element("camera").setAttribute("aria-pressed", String(state.cameraOn));
  element("screen").hidden = !state.canShare;
  element("screen").setAttribute("aria-pressed", String(state.sharing));

  element("check").hidden = status !== "Not connected";
  element("check").textContent = checking ? "End the check" : "Check the microphone";
  element("level").hidden = microphone === "off";
  element("microphoneHint").textContent = hintOf(state);

  element("conversationHint").hidden = !connected || conversation.nextId > 0;
  showConversation(conversation, element("finished"), element("unfinished"));
  message.disabled = !connected;
  element("send").disabled = status !== "Connected";
  if (element("developer").open) showMeasurements(state.measurements, element("developer"));
  showDevices(element("microphone"), "audioinput", state.chosen.microphone);
  showDevices(speaker, "audiooutput", state.chosen.speaker);
  play(botAudio, state.botAudio);
  showDevices(element("cameraDevice"), "videoinput", state.chosen.camera);
  play(element("ownVideo"), state.ownVideo);
  element("ownVideo").hidden = !state.ownVideo;
  element("ownVideo").className = state.sharing ? "own-video shared" : "own-video";
}

session.subscribe(show);
session.watchDevices();
showLevels(element("stage"), session);
followEnd(element("conversation"));

connect.addEventListener("click", (/** @type {MouseEvent} */ { detail }) => {
  if (detail > 1) return; // treat a double click as one
  void (session.state.status === "Not connected" ? session.connect() : session.disconnect());
});
element("mute").addEventListener("click", () => session.mute(!session.state.muted));
element("camera").addEventListener("click", () => session.turnCamera(!session.state.cameraOn));
element("screen").addEventListener("click", () => session.share(!session.state.sharing));
element("check").addEventListener("click", () => void (session.state.checking ? session.stopCheck() : session.check()));
element("microphone").addEventListener("change", () => session.choose({ microphone: element("microphone").value }));
element("cameraDevice").addEventListener("change", () => session.choose({ camera: element("cameraDevice").value }));
element("speakers").hidden = !canChooseSpeaker;
speaker.addEventListener("change", () => {
  session.choose({ speaker: speaker.value });
  botAudio.setSinkId(speaker.value).catch((/** @type {unknown} */ error) => {
    session.report(deviceProblem(error, "speaker"));
  });
});

element("composer").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const text = message.value.trim();
  if (text) session.send(text);
  message.value = "";
});

element("developer").addEventListener("toggle", show);
copyOnClick(element("copyEvents"), () => asText(session.state.measurements));

window.addEventListener("pagehide", () => session.disconnect());

show();
connect.disabled = false;
