/** A session with the bot, from connecting to disconnecting. */
import type { ErrorData, PipecatClient, RTVIEventCallbacks } from "@pipecat-ai/client-js";
import {
  botStopped,
  botText,
  type Conversation,
  emptyConversation,
  sessionEnded,
  typed,
  userText,
} from "./conversation";
import { deviceProblem, noBot, Problem, startProblem } from "./problems";
import { startPath } from "./settings";
import { type Chosen, type StartAnswer, type TransportName, transports } from "./transports";

/** Seconds to wait for the bot to start and report that it is ready. */
const patience = 30;

/** Milliseconds without a packet from the bot before the page shows Reconnecting. */
const quiet = 1500;

/** Entries of the browser's device list that are aliases of another device. */
const aliases = ["", "default", "communications"];

/** The state of the page. */
export interface SessionState {
  readonly status: "Not connected" | "Connecting" | "Connected" | "Reconnecting" | "Disconnecting";
  /** The problem to show; "" if there is none. */
  readonly problem: string;
  readonly transport: TransportName;
  readonly muted: boolean;
  readonly cameraOn: boolean;
  /** Devices with a name. Browsers reveal names once the microphone is allowed. */
  readonly devices: readonly MediaDeviceInfo[];
  readonly chosen: Readonly<Chosen>;
  readonly conversation: Conversation;
  /** undefined between sessions */
  readonly client?: PipecatClient;
  /** Volume of the bot if there is no track to measure: root mean square of the samples, 0 to 1. */
  readonly botLevel: number;
}

/** The state of the page, outside React; see useSession. */
export class Session {
  #state: SessionState = {
    status: "Not connected",
    problem: "",
    transport: "webrtc",
    muted: false,
    cameraOn: true,
    devices: [],
    chosen: { microphone: "", speaker: "", camera: "" },
    conversation: emptyConversation,
    botLevel: 0,
  };
  #listeners = new Set<() => void>();
  /** Aborts the attempt to connect; the reason is a Problem, or empty. */
  #attempt = new AbortController();
  /** The last error from the bot or the transport before the session ended. */
  #lastError = "";

  get state() {
    return this.#state;
  }

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #set(change: Partial<SessionState>) {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  #converse(change: (conversation: Conversation) => Conversation) {
    this.#set({ conversation: change(this.#state.conversation) });
  }

  async connect() {
    if (this.#state.status !== "Not connected") return;
    this.#set({ status: "Connecting", problem: "" });
    this.#lastError = "";
    const attempt = new AbortController();
    this.#attempt = attempt;
    const { signal } = attempt;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      if (!navigator.mediaDevices) {
        throw new Problem("Browsers allow the microphone only over https or on localhost. Open this page that way.");
      }
      const [{ PipecatClient }, transport] = await Promise.all([
        import("@pipecat-ai/client-js"),
        transports[this.#state.transport].load(),
      ]);
      signal.throwIfAborted();
      const line = transport.createTransport(this.#state.chosen);
      const client = new PipecatClient({
        transport: line,
        enableMic: !this.#state.muted,
        enableCam: this.#state.cameraOn && this.#state.transport !== "websocket",
        callbacks: this.#callbacks(attempt),
      });
      this.#set({ client });
      await unlessAborted(openDevices(client, signal), signal);
      void this.#findDevices();

      // The person may take a while to allow the microphone, so the timeout starts here.
      timer = setTimeout(() => {
        const words = `The bot did not answer within ${patience} seconds. Check its terminal or log, then press Connect.`;
        attempt.abort(new Problem(words));
      }, patience * 1000);
      const startUrl = new URL(startPath, location.href).href;
      const answer = await startBot(startUrl, transport.request, signal);
      await unlessAborted(client.connect(transport.parameters(answer, startUrl)), signal);
      this.#set({ status: "Connected" });
      if (transport.packets) void this.#watch(client, () => transport.packets?.(line));
    } catch (error) {
      if (error instanceof Problem) this.#set({ problem: error.message });
      else if (!signal.aborted) {
        const reason = this.#lastError || (error instanceof Error ? error.message : JSON.stringify(error));
        this.#set({ problem: `The bot could not be reached: ${reason}` });
      }
      await this.#end();
    } finally {
      clearTimeout(timer);
    }
  }

  async disconnect() {
    if (this.#state.status === "Connecting") this.#attempt.abort();
    if (this.#inSession) await this.#end();
  }

  get #inSession() {
    return this.#state.status === "Connected" || this.#state.status === "Reconnecting";
  }

  /** Reports when packets from the bot stop and when they resume, seconds before browsers notice. */
  async #watch(client: PipecatClient, packets: () => Promise<number> | undefined) {
    let last = 0;
    let heard = Date.now();
    for (;;) {
      const count = await packets();
      if (this.#state.client !== client || !this.#inSession) return;
      if (count && count !== last) [last, heard] = [count, Date.now()];
      const status = Date.now() - heard > quiet ? "Reconnecting" : "Connected";
      if (status !== this.#state.status) this.#set({ status });
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  /** Selects the transport of the next session. */
  take(transport: TransportName) {
    this.#set({ transport });
  }

  mute(muted: boolean) {
    this.#set({ muted });
    this.#state.client?.enableMic(!muted);
  }

  turnCamera(cameraOn: boolean) {
    this.#set({ cameraOn });
    this.#state.client?.enableCam(cameraOn);
  }

  /** Watches for devices that are added or removed. Returns a function that stops watching. */
  watchDevices() {
    // Browsers provide no media devices on insecure pages.
    const media: MediaDevices | undefined = navigator.mediaDevices;
    const find = () => void this.#findDevices();
    find();
    media?.addEventListener("devicechange", find);
    return () => media?.removeEventListener("devicechange", find);
  }

  async #findDevices() {
    const all = (await (navigator.mediaDevices as MediaDevices | undefined)?.enumerateDevices()) ?? [];
    this.#set({ devices: all.filter(({ deviceId, label }) => label && !aliases.includes(deviceId)) });
  }

  /** Selects devices, also during a session. */
  choose(change: Partial<Chosen>) {
    this.#set({ chosen: { ...this.#state.chosen, ...change } });
    if (change.microphone !== undefined) this.#state.client?.updateMic(change.microphone);
    if (change.speaker !== undefined) this.#state.client?.updateSpeaker(change.speaker);
    if (change.camera !== undefined) this.#state.client?.updateCam(change.camera);
  }

  /** Shows a problem. */
  report(problem: string) {
    this.#set({ problem });
  }

  send(text: string) {
    this.#converse((conversation) => typed(conversation, text));
    void this.#state.client?.sendText(text);
  }

  /** Closes the connection and the devices. */
  async #end() {
    this.#set({ status: "Disconnecting" });
    const { client } = this.#state;
    let local: (MediaStreamTrack | undefined)[] = [];
    try {
      local = Object.values(client?.tracks().local ?? {});
      await client?.disconnect();
    } catch (error) {
      console.warn("While disconnecting:", error);
    }
    // A transport that never connected leaves its devices open.
    for (const track of local) track?.stop();
    this.#set({
      status: "Not connected",
      client: undefined,
      conversation: sessionEnded(this.#state.conversation),
      botLevel: 0,
    });
  }

  /** Handles the unexpected end of a session. Ignores events of an earlier one. */
  async #lost(attempt: AbortController) {
    if (attempt !== this.#attempt) return;
    const words = this.#lastError
      ? `The bot stopped: ${this.#lastError}`
      : "The connection to the bot was lost. Check its terminal or log, then press Connect.";
    if (this.#state.status === "Connecting") attempt.abort(new Problem(words));
    if (this.#inSession) {
      this.#set({ problem: words });
      await this.#end();
    }
  }

  #callbacks(attempt: AbortController): RTVIEventCallbacks {
    return {
      onRemoteAudioLevel: (botLevel) => this.#set({ botLevel }),
      onUserTranscript: (data) => this.#converse((conversation) => userText(conversation, data)),
      onBotOutput: (data) => this.#converse((conversation) => botText(conversation, data)),
      onBotStoppedSpeaking: () => {
        this.#converse(botStopped);
        this.#set({ botLevel: 0 }); // no more audio to measure
      },
      onDeviceError: (error) => {
        const device = error.devices.includes("mic") ? "microphone" : "camera";
        const words = deviceProblem(error.details?.sourceError ?? error, device);
        // Daily continues without a microphone, so the bot would hear nothing.
        if (device === "microphone" && this.#state.status === "Connecting") attempt.abort(new Problem(words));
        else this.#set({ problem: words });
      },
      onError: (message) => {
        const { fatal, error } = message.data as ErrorData;
        if (!fatal) return console.warn("The bot reports:", error);
        // The WebSocket transport also reports its own closing as an error.
        if (!error.startsWith("websocket ")) this.#lastError = error;
      },
      onBotDisconnected: () => void this.#lost(attempt),
      onDisconnected: () => void this.#lost(attempt),
    };
  }
}

async function openDevices(client: PipecatClient, signal: AbortSignal) {
  try {
    await client.initDevices();
  } catch (error) {
    throw error instanceof DOMException ? new Problem(deviceProblem(error, "microphone")) : error;
  }
  if (signal.aborted) for (const track of Object.values(client.tracks().local)) track?.stop();
}

async function startBot(startUrl: string, request: object, signal: AbortSignal): Promise<StartAnswer> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(startUrl, { method: "POST", headers, body: JSON.stringify(request), signal }).catch(() => {
    signal.throwIfAborted();
    throw new Problem(noBot(startUrl));
  });
  if (!response.ok) throw new Problem(await startProblem(response, startUrl));
  return (await response.json()) as StartAnswer;
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject);
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
