// @ts-check
/** The page: its buttons and the state of the session. */
import { Conversation } from "./conversation.js";
import { watchDevices } from "./devices.js";
import { Meter } from "./meter.js";
import { deviceProblem } from "./problems.js";
import { Session } from "./session.js";
import { defaultTransport } from "./transports.js";

/** @returns {any} the element of index.html with the id */
const element = (/** @type {string} */ id) => document.getElementById(id);

const connect = element("connect");
const mute = element("mute");
const microphone = element("microphone");
const speaker = element("speaker");
const botAudio = element("botAudio");
const message = element("message");

const meter = new Meter(element("volume"));
const conversation = new Conversation(element("conversation"), element("entries"), element("unfinished"));
const canChooseSpeaker = "setSinkId" in HTMLMediaElement.prototype;
const refreshDevices = watchDevices({
  audioinput: microphone,
  ...(canChooseSpeaker && { audiooutput: speaker }),
});

/** Shows a problem; "" removes it. */
function show(/** @type {string} */ words) {
  element("problem").textContent = words;
}

const session = new Session({
  onStatus(status) {
    element("status").textContent = status;
    connect.textContent = status === "Not connected" ? "Connect" : "Disconnect";
    message.disabled = status !== "Connected" && status !== "Reconnecting";
    element("send").disabled = status !== "Connected";
    if (status === "Not connected") {
      conversation.end();
      meter.stop();
    }
  },
  onProblem: show,
  onDevicesAllowed: refreshDevices,
  onTrack(track, local) {
    if (track.kind === "audio" && !local) {
      botAudio.srcObject = new MediaStream([track]);
      meter.listen(track);
    }
  },
  onTrackEnd(track, local) {
    if (track.kind === "audio" && !local) meter.stop();
  },
  onBotLevel: (level) => meter.show(level),
  onUserText: (data) => conversation.userText(data),
  onBotText: (data) => conversation.botText(data),
  onBotStopped() {
    conversation.botStopped();
    meter.show(0); // no more audio to measure
  },
});

const pressed = (/** @type {Element} */ button) => button.getAttribute("aria-pressed") === "true";

/** Toggles a button and returns whether it is now pressed. */
function toggle(/** @type {Element} */ button) {
  button.setAttribute("aria-pressed", String(!pressed(button)));
  return pressed(button);
}

connect.addEventListener("click", (/** @type {MouseEvent} */ { detail }) => {
  if (detail > 1) return; // treat a double click as one
  if (session.status !== "Not connected") return session.disconnect();
  show("");
  return session.connect({
    transport: defaultTransport,
    microphone: !pressed(mute),
    camera: false,
    devices: {
      microphone: microphone.value,
      speaker: speaker.value,
      camera: "",
    },
  });
});

mute.addEventListener("click", () => {
  const muted = toggle(mute);
  session.client?.enableMic(!muted);
});

microphone.addEventListener("change", () => session.client?.updateMic(microphone.value));

element("speakers").hidden = !canChooseSpeaker;
speaker.addEventListener("change", () => {
  botAudio.setSinkId(speaker.value).catch((/** @type {unknown} */ error) => show(deviceProblem(error, "speaker")));
  session.client?.updateSpeaker(speaker.value);
});

element("composer").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const text = message.value.trim();
  if (!text) return;
  conversation.typed(text);
  void session.client?.sendText(text);
  message.value = "";
});

window.addEventListener("pagehide", () => session.disconnect());

connect.disabled = false;
