// @ts-check

/** How loud something is: a track that is measured, or what a transport reports. */
export class Level {
  /** @type {AudioContext | undefined} */
  #context;
  /** @type {AnalyserNode | undefined} */
  #analyser;
  #samples = new Float32Array(2048);
  /** Root mean square of the samples; speech is about 0.1. */
  #reported = 0;

  /** @param {MediaStreamTrack} track - to be measured until stop */
  listen(track) {
    this.stop();
    this.#context = new AudioContext();
    this.#analyser = this.#context.createAnalyser();
    this.#context.createMediaStreamSource(new MediaStream([track])).connect(this.#analyser);
  }

  report(/** @type {number} */ level) {
    this.#reported = level;
  }

  stop() {
    void this.#context?.close();
    this.#context = this.#analyser = undefined;
    this.#reported = 0;
  }

  /** Root mean square, 0 to 1. */
  get now() {
    if (!this.#analyser) return this.#reported;
    this.#analyser.getFloatTimeDomainData(this.#samples);
    return Math.sqrt(this.#samples.reduce((sum, sample) => sum + sample ** 2, 0) / this.#samples.length);
  }

  /** As people hear it: 0 for -50 dB, barely audible, to 1 for 0 dB. */
  get loudness() {
    return Math.min(1, Math.max(0, 1 + (20 * Math.log10(this.now || 1e-6)) / 50));
  }
}
