/** The page: shows the state of the session, and passes on what the person does. */
import { asText, save } from "./keep.js";
import { eventsAsText } from "./measurements.js";
import { embedded, forDevelopers, names } from "./page.js";
import { showLevels } from "./presence.js";
import { deviceProblem } from "./problems.js";
import { Session } from "./session.js";
import { showSigns } from "./signs.js";
import { playVoice } from "./sound.js";
import { copyOnClick, showConversation, showMeasurements, showProblem } from "./views.js";
import { actionOf, hintOf, isConnected, isOff, moodOf, wordOf } from "./words.js";

const element = (id) => document.getElementById(id);

const session = new Session();
const connect = element("connect");
const message = element("message");
const speaker = element("speaker");
const botAudio = element("botAudio");
const canChooseSpeaker = "setSinkId" in HTMLMediaElement.prototype;

/** Shows a track; a new stream only for a new track, because each one starts anew. */
function play(media, track) {
  const stream = media.srcObject;
  if (stream?.getTracks()[0] === track) return;
  media.srcObject = track ? new MediaStream([track]) : null;
  if (track && media === botAudio) void playVoice(media, session);
}

function showDevices(select, kind, chosen) {
  const known = session.state.devices.filter((device) => device.kind === kind);
  const ids = known.map(({ deviceId }) => deviceId).join();
  if (select.dataset.ids !== ids) {
    select.dataset.ids = ids;
    select.replaceChildren(new Option("Default", ""), ...known.map((d) => new Option(d.label, d.deviceId)));
  }
  select.value = known.some(({ deviceId }) => deviceId === chosen) ? chosen : "";
}

function show() {
  const { state } = session;
  const { status, conversation, microphone, checking } = state;
  const connected = isConnected(state);
  const mood = moodOf(state);
  element("page").dataset.view = (connected || conversation.nextId > 0) && !embedded ? "talk" : "start";
  element("stage").dataset.mood = mood;
  element("status").textContent = element("status").dataset.status = status;
  element("mood").textContent = wordOf(mood);
  element("lead").hidden = mood !== "idle";
  showProblem(element("problem"), state.problem, connected && (() => session.report()));

  connect.textContent = actionOf(mood);
  connect.className = ["idle", "ended", "failed"].includes(mood) ? "main" : "toggle leave";
  element("mute").hidden = !connected;
  element("mute").textContent = isOff(state) ? "Unmute" : "Mute";
  element("mute").className = isOff(state) ? "toggle mute off" : "toggle mute";
  element("camera").textContent = state.cameraOn ? "Stop camera" : "Camera";
  element("camera").className = state.cameraOn ? "toggle camera" : "toggle camera off";
  element("screen").hidden = !state.canShare;
  element("screen").textContent = state.sharing ? "Stop sharing" : "Share screen";
  element("screen").className = state.sharing ? "toggle screen on" : "toggle screen";

  element("check").hidden = status !== "Not connected";
  element("check").textContent = checking ? "End the check" : "Check the microphone";
  element("level").hidden = !["open", "heard", "silent"].includes(microphone);
  element("microphoneHint").textContent = hintOf(state);

  element("conversationHint").hidden = !connected || conversation.nextId > 0;
  element("tools").hidden = conversation.finished.length === 0;
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
session.muteWithSpace();
showSigns(session);
showLevels(element("stage"), session);
if (embedded) {
  element("page").dataset.embedded = true;
  element("mood").role = "status";
}
element("developer").hidden = !forDevelopers;

connect.addEventListener("click", ({ detail }) => {
  if (detail > 1) return; // treat a double click as one
  void (session.state.status === "Not connected" ? session.connect() : session.disconnect());
});
element("mute").addEventListener("click", () => session.mute(!isOff(session.state)));
element("camera").addEventListener("click", () => session.turnCamera(!session.state.cameraOn));
element("screen").addEventListener("click", () => session.share(!session.state.sharing));
element("check").addEventListener("click", () => void (session.state.checking ? session.stopCheck() : session.check()));
element("microphone").addEventListener("change", () => session.choose({ microphone: element("microphone").value }));
element("cameraDevice").addEventListener("change", () => session.choose({ camera: element("cameraDevice").value }));
element("speakers").hidden = !canChooseSpeaker;
speaker.addEventListener("change", () => {
  session.choose({ speaker: speaker.value });
  botAudio.setSinkId(speaker.value).catch((error) => session.report(deviceProblem(error, "speaker")));
});

element("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = message.value.trim();
  if (text) session.send(text);
  message.value = "";
});

element("developer").addEventListener("toggle", show);
copyOnClick(element("copyEvents"), () => eventsAsText(session.state.measurements));

copyOnClick(element("copy"), () => asText(session.state.conversation));
element("save").addEventListener("click", () => save(`${names.page}.txt`, asText(session.state.conversation)));
element("times").addEventListener("click", ({ target }) => {
  const on = target.ariaPressed !== "true";
  target.ariaPressed = on;
  element("entries").toggleAttribute("data-times", on);
});

window.addEventListener("pagehide", () => session.disconnect());

show();
connect.disabled = false;
