/** A session with the bot, and all that the page shows of it. */

import { begun, emptyConversation, ended, hear, timed, typed } from "./conversation.js";
import { Level } from "./level.js";
import { measure, nothing } from "./measurements.js";
import {
  Problem,
  deviceProblem,
  endingOf,
  failed,
  insecure,
  late,
  lost,
  noBot,
  notABot,
  startProblem,
  unloaded,
  unreachable,
} from "./problems.js";
import { startPath } from "./settings.js";
import { transports } from "./transports.js";
import { isConnected, isOff } from "./words.js";

/** Seconds to wait for the bot to start and report that it is ready. */
const patience = 30;

/** Milliseconds without a packet from the bot before the page shows Reconnecting. */
const quiet = 1500;

/** Milliseconds without any sound from the microphone before the page says so. */
const suspicious = 8000;

/** -100 dB: even a quiet room is louder, after the browser has removed its noise. */
const silence = 0.00001;

/** Milliseconds without a message of the bot after which it no longer thinks. */
const forgotten = 20_000;

/** Entries of the browser's device list that are aliases of another device. */
const aliases = ["", "default", "communications"];

/** What holds between sessions. */
const idle = {
  status: "Not connected",
  client: undefined,
  userSpeaks: false,
  botSpeaks: false,
  botThinks: false,
  waitsFor: "",
  botAudio: undefined,
  ownVideo: undefined,
  sharing: false,
  canShare: false,
};

export class Session {
  state = {
    status: "Not connected",
    ended: "",
    transport: Object.keys(transports)[0] ?? "",
    muted: false,
    cameraOn: true,
    canShare: false,
    sharing: false,
    microphone: "off",
    checking: false,
    userSpeaks: false,
    botSpeaks: false,
    botThinks: false,
    waitsFor: "",
    devices: [],
    chosen: { microphone: "", speaker: "", camera: "" },
    conversation: emptyConversation,
    measurements: nothing,
  };
  /** How loud the bot and the person are; apart from the state because it changes all the time. */
  botLevel = new Level();
  ownLevel = new Level();
  #listeners = new Set();
  #handlers = new Set();
  /** Aborts the attempt to connect; the reason is a Problem, or empty. */
  #attempt = new AbortController();
  /** The last error from the bot or the transport before the session ended. */
  #lastError = "";
  /** What the bot said of one of its services, while the session goes on. */
  #ofBot;
  /** As in the state, but the connection is still open. */
  #ending = "";
  /** When the person pressed Connect. */
  #began = 0;
  #hearing;
  #thinking;
  /** The bot's model was asked for an answer, and has not ended it. */
  #writes = false;
  #checked;

  /** Calls the listener after each change of the state, until what this returns is called. */
  subscribe = (listener) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /**
   * Calls the handler with the data of each message of the bot that has the type, such as "server-message" or
   * "llm-function-call-stopped", until what this returns is called.
   */
  on(type, handler) {
    const added = { type, handler };
    this.#handlers.add(added);
    return () => void this.#handlers.delete(added);
  }

  #set(change) {
    this.state = { ...this.state, ...change };
    for (const listener of this.#listeners) listener();
  }

  async connect() {
    if (this.state.status !== "Not connected") return;
    this.stopCheck();
    this.#lastError = this.#ending = "";
    this.#began = performance.now();
    const conversation = begun(this.state.conversation);
    this.#set({ status: "Connecting", problem: undefined, ended: "", measurements: nothing, conversation });
    const attempt = (this.#attempt = new AbortController());
    const { signal } = attempt;
    let timer;
    try {
      const [{ PipecatClient }, connection] = await Promise.all([
        import("@pipecat-ai/client-js"),
        transports[this.state.transport]?.load() ?? Promise.reject(),
      ]).catch(() => Promise.reject(unloaded));
      signal.throwIfAborted();
      const transport = connection.createTransport(this.state.chosen);
      this.#overhear(transport, attempt);
      const client = new PipecatClient({
        transport,
        enableMic: !this.state.muted,
        enableCam: this.state.cameraOn,
        callbacks: this.#during(attempt, this.#callbacks()),
      });
      this.#set({ client });
      if (await asks()) this.#set({ microphone: "asked" });
      await unlessAborted(openDevices(client, signal), signal);
      if (this.state.microphone === "asked") this.#set({ microphone: "off" });
      void this.#findDevices();

      // The person may take a while to allow the microphone, so the timeout starts here.
      timer = setTimeout(() => attempt.abort(late(patience)), patience * 1000);
      const startUrl = new URL(startPath, location.href).href;
      const answer = await startBot(startUrl, connection.request, signal);
      await unlessAborted(client.connect(connection.parameters(answer, startUrl)), signal);
      const canShare = Boolean(
        connection.sharesScreen && navigator.mediaDevices && "getDisplayMedia" in mediaDevices(),
      );
      this.#set({ status: "Connected", canShare });
      if (connection.packets) void this.#watch(client, () => connection.packets?.(transport));
    } catch (error) {
      const reason = this.#lastError || (error instanceof Error ? error.message : JSON.stringify(error));
      if (error instanceof Problem) await this.#end(error);
      else await this.#end(signal.aborted ? undefined : unreachable(reason));
    } finally {
      clearTimeout(timer);
    }
  }

  async disconnect() {
    this.stopCheck();
    if (this.state.status === "Connecting") this.#attempt.abort();
    if (isConnected(this.state)) await this.#end();
  }

  /** Without a microphone, turning it on tries again to open it. */
  mute(muted) {
    this.#set({ muted });
    this.state.client?.enableMic(!muted);
    if (!muted && this.state.microphone === "missing") this.choose({ microphone: this.state.chosen.microphone });
  }

  /** Mutes and unmutes with the space bar while nothing has the focus, until what this returns is called. */
  muteWithSpace() {
    const press = (event) => {
      if (event.key !== " " || event.repeat || event.target !== document.body || !isConnected(this.state)) return;
      event.preventDefault(); // it would scroll
      this.mute(!isOff(this.state));
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }

  turnCamera(cameraOn) {
    this.#set({ cameraOn });
    this.state.client?.enableCam(cameraOn);
  }

  /** Shows the screen in place of the camera. */
  share(on) {
    this.state.client?.updateCam(on ? "screen" : this.state.chosen.camera);
  }

  /** Selects devices, also during a session. */
  choose(change) {
    const { client, checking, problem } = this.state;
    // During a session a problem is one with a device.
    this.#set({ chosen: { ...this.state.chosen, ...change }, problem: client ? undefined : problem });
    if (change.microphone !== undefined) {
      client?.updateMic(change.microphone);
      if (checking) void this.check();
    }
    if (change.speaker !== undefined) client?.updateSpeaker(change.speaker);
    if (change.camera !== undefined) client?.updateCam(change.camera);
  }

  send(text) {
    this.#set({ conversation: typed(this.state.conversation, text) });
    this.#hear({ type: "send-text", data: { text } });
    this.#anotherAttempt();
    void this.state.client?.sendText(text);
  }

  /** Shows a problem; without one, removes what is shown. */
  report(problem) {
    this.#set({ problem });
  }

  /** Opens the microphone without a session, to see whether anything comes from it. */
  async check() {
    this.stopCheck();
    this.#set({ checking: true, problem: undefined });
    const id = this.state.chosen.microphone;
    try {
      const stream = await mediaDevices().getUserMedia({ audio: id ? { deviceId: { exact: id } } : true });
      this.#checked?.stop();
      for (const track of stream.getTracks()) {
        if (this.state.checking) this.#listen((this.#checked = track));
        else track.stop(); // the person did not wait
      }
      void this.#findDevices();
    } catch (error) {
      this.#set({ checking: false, problem: deviceProblem(error, "microphone") });
    }
  }

  stopCheck() {
    if (!this.state.checking) return;
    this.#checked?.stop();
    this.#set({ checking: false });
    this.#stopListening();
  }

  /** Watches for devices that are added or removed. Returns a function that stops watching. */
  watchDevices() {
    const media = navigator.mediaDevices; // which browsers do not provide on insecure pages
    const find = () => void this.#findDevices();
    find();
    media?.addEventListener("devicechange", find);
    return () => media?.removeEventListener("devicechange", find);
  }

  async #findDevices() {
    const all = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
    const devices = all.filter(({ deviceId, label }) => label && !aliases.includes(deviceId));
    const { chosen } = this.state;
    const there = (id) => (devices.some(({ deviceId }) => deviceId === id) ? id : "");
    this.#set({
      devices,
      chosen: { microphone: there(chosen.microphone), speaker: there(chosen.speaker), camera: there(chosen.camera) },
    });
  }

  /** Measures a microphone, and notes whether anything comes from it. */
  #listen(track) {
    this.#stopListening();
    this.ownLevel.listen(track);
    this.#set({ microphone: "open" });
    let since = Date.now();
    this.#hearing = setInterval(() => {
      if (this.state.muted && !this.state.checking) since = Date.now();
      else if (this.ownLevel.now > silence) {
        clearInterval(this.#hearing);
        this.#set({ microphone: "heard" });
      } else if (Date.now() - since > suspicious && this.state.microphone !== "silent") {
        this.#set({ microphone: "silent" });
      }
    }, 100);
  }

  #stopListening(microphone = "off") {
    clearInterval(this.#hearing);
    this.ownLevel.stop();
    this.#set({ microphone });
  }

  /** Reads all messages of the bot, among them those for which the framework's client has no callback. */
  #overhear(transport, attempt) {
    const initialize = transport.initialize.bind(transport);
    transport.initialize = (options, receive) =>
      initialize(options, (message) => {
        if (this.#goesOn(attempt)) this.#hear(message);
        receive(message);
      });
  }

  #hear(message) {
    const at = (performance.now() - this.#began) / 1000;
    const measurements = measure(this.state.measurements, { at, type: message.type, data: message.data });
    let conversation = hear(this.state.conversation, message);
    const answer = measurements.answers.at(-1);
    if (answer?.heard !== undefined) conversation = timed(conversation, answer);
    const change = { measurements, conversation };
    switch (message.type) {
      case "user-started-speaking":
        this.#writes = false;
        Object.assign(change, { userSpeaks: true, botThinks: false, waitsFor: "" });
        break;
      case "user-stopped-speaking":
        Object.assign(change, { userSpeaks: false, botThinks: true });
        break;
      case "bot-llm-started":
      case "send-text":
        change.botThinks = this.#writes = true;
        break;
      case "bot-llm-stopped":
      case "bot-interrupted":
        this.#writes = false;
        break;
      case "bot-started-speaking":
        Object.assign(change, { botSpeaks: true, botThinks: false, waitsFor: "" });
        break;
      case "bot-stopped-speaking":
        // What the model wrote after a tool was spoken, too, unless it still writes.
        Object.assign(change, { botSpeaks: false, botThinks: this.#writes });
    }
    this.#set(change);
    clearTimeout(this.#thinking);
    if (this.state.botThinks) this.#thinking = setTimeout(() => this.#set({ botThinks: false }), forgotten);
    for (const { type, handler } of this.#handlers) if (type === message.type) handler(message.data);
  }

  /** Reports when packets from the bot stop and when they resume, seconds before browsers notice. */
  async #watch(client, packets) {
    let last = 0;
    let heard = Date.now();
    for (;;) {
      const count = await packets();
      if (this.state.client !== client || !isConnected(this.state)) return;
      if (count && count !== last) [last, heard] = [count, Date.now()];
      const status = Date.now() - heard > quiet ? "Reconnecting" : "Connected";
      if (status !== this.state.status) this.#set({ status });
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  /** Closes the connection and the devices; the problem, if any, is why. */
  async #end(problem) {
    clearTimeout(this.#thinking);
    this.#set({ status: "Disconnecting", problem: undefined });
    const { client } = this.state;
    let open = [];
    try {
      open = Object.values(client?.tracks().local ?? {});
      await client?.disconnect();
    } catch (error) {
      console.warn("While disconnecting:", error);
    }
    // A transport that never connected leaves its devices open.
    for (const track of open) track?.stop();
    this.#stopListening();
    this.botLevel.stop();
    this.#set({ ...idle, problem, conversation: ended(this.state.conversation) });
  }

  /** Handles the unexpected end of a session. */
  async #lost() {
    const problem = this.#ending ? undefined : lost(this.#lastError);
    if (this.state.status === "Connecting") this.#attempt.abort(problem);
    if (isConnected(this.state)) {
      await this.#end(problem);
      this.#set({ ended: this.#ending });
    }
  }

  /** Removes what the bot has said that went wrong. */
  #anotherAttempt() {
    if (this.state.problem === this.#ofBot) this.#set({ problem: undefined });
  }

  /** Whether the attempt was not cancelled, and its session has not ended. */
  #goesOn(attempt) {
    return attempt === this.#attempt && this.state.client !== undefined;
  }

  /** Leaves out what comes too late. */
  #during(attempt, callbacks) {
    const within =
      (callback) =>
      (...args) => {
        if (this.#goesOn(attempt)) callback(...args);
      };
    return Object.fromEntries(Object.entries(callbacks).map(([name, callback]) => [name, within(callback)]));
  }

  #callbacks() {
    return {
      onTrackStarted: (track, participant) => {
        if (track.kind === "audio" && participant?.local) this.#listen(track);
        else if (track.kind === "audio") {
          this.botLevel.listen(track);
          this.#set({ botAudio: track });
        }
        if (track.kind === "video" && participant?.local) {
          this.#set({ ownVideo: track, sharing: Boolean(track.getSettings().displaySurface) });
        }
      },
      onTrackStopped: (track) => {
        if (track === this.state.botAudio) {
          this.botLevel.stop();
          this.#set({ botAudio: undefined });
        }
        if (track === this.state.ownVideo) this.#set({ ownVideo: undefined, sharing: false });
      },
      onDeviceError: (error) => {
        const device = error.devices.includes("mic") ? "microphone" : "camera";
        const problem = deviceProblem(error.details?.sourceError ?? error, device);
        // What was chosen before remains in use.
        const used = this.state.client?.[device === "microphone" ? "selectedMic" : "selectedCam"]?.deviceId ?? "";
        if (device === "microphone" && !used) this.#stopListening("missing");
        if (device === "camera" && !used) this.#set({ cameraOn: false });
        // Of two, the one that matters more.
        const shown = device === "camera" && this.state.microphone === "missing" ? this.state.problem : problem;
        this.#set({ problem: shown, chosen: { ...this.state.chosen, [device]: used } });
      },
      onError: ({ data }) => {
        const { fatal, error } = data;
        if (!fatal) return console.warn("The bot reports:", error);
        // The WebSocket transport also reports its own closing as an error.
        if (!error.startsWith("websocket ")) this.#lastError = error;
      },
      onServerMessage: (data) => {
        // A blank value says that the service answers again.
        if (data?.problem) this.#set({ problem: (this.#ofBot = failed(data.problem)), waitsFor: "" });
        else if (data?.problem === "") this.#anotherAttempt();
        if (data?.waiting !== undefined) this.#set({ waitsFor: data.waiting });
        if (data?.ended) this.#ending = endingOf(data.ended, data.minutes); // the connection closes next
      },
      onUserStartedSpeaking: () => this.#anotherAttempt(),
      onBotDisconnected: () => void this.#lost(),
      onDisconnected: () => void this.#lost(),
    };
  }
}

/** The devices of the browser, which it hides from insecure pages. */
function mediaDevices() {
  if (navigator.mediaDevices) return navigator.mediaDevices;
  throw insecure;
}

/** Whether the browser will ask the person for the microphone; if it does not tell, it will. */
async function asks() {
  const name = "microphone"; // unknown to some versions of the types, and some browsers
  const answer = await navigator.permissions?.query({ name }).catch(() => undefined);
  return answer?.state !== "granted" && answer?.state !== "denied";
}

async function openDevices(client, signal) {
  try {
    await client.initDevices();
  } catch (error) {
    throw error instanceof DOMException ? deviceProblem(error, "microphone") : error;
  }
  if (signal.aborted) for (const track of Object.values(client.tracks().local)) track?.stop();
}

async function startBot(startUrl, request, signal) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(startUrl, { method: "POST", headers, body: JSON.stringify(request), signal }).catch(
    () => {
      signal.throwIfAborted();
      throw noBot(startUrl);
    },
  );
  if (!response.ok) throw await startProblem(response, startUrl);
  return response.json().catch(() => {
    throw notABot(startUrl);
  });
}

function unlessAborted(promise, signal) {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject);
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
