// @ts-check

/** Milliseconds between two measurements. */
const period = 80;

/** Shows the volume of the bot. */
export class Meter {
  #element;
  /** @type {AudioContext | undefined} */
  #context;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /** @param {HTMLElement} element - with role="meter" */
  constructor(element) {
    this.#element = element;
  }

  /** Measures a track until stop. */
  listen(/** @type {MediaStreamTrack} */ track) {
    this.stop();
    this.#context = new AudioContext();
    const analyser = this.#context.createAnalyser();
    this.#context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    this.#timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      this.show(Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length));
    }, period);
  }

  stop() {
    clearInterval(this.#timer);
    void this.#context?.close();
    this.#context = undefined;
    this.show(0);
  }

  /** @param {number} level - root mean square of the samples; speech is about 0.1 */
  show(level) {
    // Hearing is logarithmic: -50 dB is barely audible, 0 dB is the maximum.
    const loudness = Math.min(1, Math.max(0, 1 + (20 * Math.log10(level || 1e-6)) / 50));
    const value = loudness.toFixed(2);
    if (this.#element.getAttribute("aria-valuenow") === value) return;
    this.#element.setAttribute("aria-valuenow", value);
    this.#element.style.setProperty("--level", value);
  }
}
