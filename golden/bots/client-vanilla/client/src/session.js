// @ts-check
/** A session with the bot, from connecting to disconnecting. */
import { Problem, deviceProblem, noBot, startProblem } from "./problems.js";
import { transports } from "./transports.js";

const startUrl = new URL(import.meta.env.VITE_START_URL || "/start", location.href).href;

/** Seconds to wait for the bot to start and report that it is ready. */
const patience = 30;

/** Milliseconds without a packet from the bot before the page shows Reconnecting. */
const quiet = 1500;

/**
 * @typedef {"Not connected" | "Connecting" | "Connected" | "Reconnecting" | "Disconnecting"} Status
 *
 * @typedef {object} Listener - the page's event handlers
 * @property {(status: Status) => void} onStatus
 * @property {(words: string) => void} onProblem
 * @property {() => void} onDevicesAllowed
 * @property {(track: MediaStreamTrack, local: boolean) => void} onTrack
 * @property {(track: MediaStreamTrack, local: boolean) => void} onTrackEnd
 * @property {(level: number) => void} onBotLevel
 * @property {(data: import("@pipecat-ai/client-js").TranscriptData) => void} onUserText
 * @property {(data: import("@pipecat-ai/client-js").BotOutputData) => void} onBotText
 * @property {() => void} onBotStopped
 */

export class Session {
  /** @type {import("@pipecat-ai/client-js").PipecatClient | undefined} undefined between sessions */
  client;
  /** @type {Status} */
  #status = "Not connected";
  #listener;
  /** Aborts the attempt to connect; the reason is a Problem, or empty. */
  #attempt = new AbortController();
  /** Why the bot ended the session, if it gave a reason. */
  #lastWords = "";

  /** @param {Listener} listener */
  constructor(listener) {
    this.#listener = listener;
  }

  get status() {
    return this.#status;
  }

  /**
   * @param {object} wanted
   * @param {string} wanted.transport - one of transports
   * @param {boolean} wanted.microphone - on at the start
   * @param {boolean} wanted.camera - likewise
   * @param {import("./devices.js").Chosen} wanted.devices
   */
  async connect(wanted) {
    if (this.#status !== "Not connected") return;
    this.#become("Connecting");
    this.#lastWords = "";
    const attempt = (this.#attempt = new AbortController());
    const { signal } = attempt;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    try {
      if (!navigator.mediaDevices) {
        throw new Problem("Browsers allow the microphone only over https or on localhost. Open this page that way.");
      }
      const [{ PipecatClient }, transport] = await Promise.all([
        import("@pipecat-ai/client-js"),
        transports[wanted.transport](),
      ]);
      signal.throwIfAborted();
      const line = transport.createTransport(wanted.devices);
      const client = (this.client = new PipecatClient({
        transport: line,
        enableMic: wanted.microphone,
        enableCam: wanted.camera,
        callbacks: this.#callbacks(attempt),
      }));
      await unlessAborted(openDevices(client, signal), signal);
      this.#listener.onDevicesAllowed();

      // The person may take a while to allow the microphone, so the timeout starts here.
      timer = setTimeout(() => {
        const words = `The bot did not answer within ${patience} seconds. Check its terminal or log, then press Connect.`;
        attempt.abort(new Problem(words));
      }, patience * 1000);
      const answer = await startBot(transport.request, signal);
      await unlessAborted(client.connect(transport.parameters(answer, startUrl)), signal);
      this.#become("Connected");
      if (transport.packets) void this.#watch(client, () => transport.packets?.(line));
    } catch (error) {
      if (error instanceof Problem) this.#listener.onProblem(error.message);
      else if (!signal.aborted) this.#listener.onProblem(`The bot could not be reached: ${error}`);
      await this.#end();
    } finally {
      clearTimeout(timer);
    }
  }

  async disconnect() {
    if (this.#status === "Connecting") this.#attempt.abort();
    if (this.#inSession) await this.#end();
  }

  get #inSession() {
    return this.#status === "Connected" || this.#status === "Reconnecting";
  }

  /**
   * Reports when packets from the bot stop and when they resume, seconds before browsers notice.
   *
   * @param {import("@pipecat-ai/client-js").PipecatClient} client
   * @param {() => Promise<number> | undefined} packets
   */
  async #watch(client, packets) {
    let last = 0;
    let heard = Date.now();
    for (;;) {
      const count = await packets();
      if (this.client !== client) return;
      if (count && count !== last) [last, heard] = [count, Date.now()];
      const status = Date.now() - heard > quiet ? "Reconnecting" : "Connected";
      if (status !== this.#status) this.#become(status);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  /** Closes the connection and the devices. */
  async #end() {
    this.#become("Disconnecting");
    const client = this.client;
    this.client = undefined;
    /** @type {(MediaStreamTrack | undefined)[]} */
    let open = [];
    try {
      open = Object.values(client?.tracks().local ?? {});
      await client?.disconnect();
    } catch (error) {
      console.warn("While disconnecting:", error);
    }
    // A transport that never connected leaves its devices open.
    for (const track of open) track?.stop();
    this.#become("Not connected");
  }

  /**
   * Handles the unexpected end of a session.
   *
   * @param {AbortController} attempt - of the session; events of an earlier one are ignored
   */
  async #lost(attempt) {
    if (attempt !== this.#attempt) return;
    const words = this.#lastWords || "The connection to the bot was lost. Check its terminal or log, then press Connect.";
    if (this.#status === "Connecting") attempt.abort(new Problem(words));
    if (this.#inSession) {
      this.#listener.onProblem(words);
      await this.#end();
    }
  }

  #become(/** @type {Status} */ status) {
    this.#status = status;
    this.#listener.onStatus(status);
  }

  /**
   * @param {AbortController} attempt
   * @returns {import("@pipecat-ai/client-js").RTVIEventCallbacks}
   */
  #callbacks(attempt) {
    const listener = this.#listener;
    return {
      onTrackStarted: (track, participant) => listener.onTrack(track, participant?.local ?? false),
      onTrackStopped: (track, participant) => listener.onTrackEnd(track, participant?.local ?? false),
      onRemoteAudioLevel: (level) => listener.onBotLevel(level),
      onUserTranscript: listener.onUserText,
      onBotOutput: listener.onBotText,
      onBotStoppedSpeaking: listener.onBotStopped,
      onDeviceError: (error) => {
        const device = error.devices.includes("mic") ? "microphone" : "camera";
        const words = deviceProblem(error.details?.sourceError ?? error, device);
        // Daily continues without a microphone, so the bot would hear nothing.
        if (device === "microphone" && this.#status === "Connecting") attempt.abort(new Problem(words));
        else listener.onProblem(words);
      },
      onError: (message) => {
        const { fatal, error, message: text } = /** @type {import("@pipecat-ai/client-js").ErrorData} */ (message.data);
        if (!fatal) return console.warn("The bot reports:", error ?? text);
        // The WebSocket transport also reports its own closing as an error.
        if (!error?.startsWith("websocket ")) this.#lastWords = `The bot stopped: ${error ?? text}`;
      },
      onBotDisconnected: () => void this.#lost(attempt),
      onDisconnected: () => void this.#lost(attempt),
    };
  }
}

/**
 * @param {import("@pipecat-ai/client-js").PipecatClient} client
 * @param {AbortSignal} signal
 */
async function openDevices(client, signal) {
  try {
    await client.initDevices();
  } catch (error) {
    throw new Problem(deviceProblem(error, "microphone"));
  }
  if (signal.aborted) for (const track of Object.values(client.tracks().local)) track?.stop();
}

/**
 * @param {object} request
 * @param {AbortSignal} signal
 * @returns {Promise<any>} what the bot's host says of the session
 */
async function startBot(request, signal) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request), signal };
  const response = await fetch(startUrl, options).catch(() => {
    signal.throwIfAborted();
    throw new Problem(noBot(startUrl));
  });
  if (!response.ok) throw new Problem(await startProblem(response, startUrl));
  return response.json();
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} signal
 * @returns {Promise<T>}
 */
function unlessAborted(promise, signal) {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject);
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
