/** How loud a track is. */
export class Level {
  #context?: AudioContext;
  #analyser?: AnalyserNode;
  #samples = new Float32Array(2048);

  /** Measures the track until stop. */
  listen(track: MediaStreamTrack) {
    this.stop();
    this.#context = new AudioContext();
    this.#analyser = this.#context.createAnalyser();
    this.#context.createMediaStreamSource(new MediaStream([track])).connect(this.#analyser);
  }

  stop() {
    void this.#context?.close();
    this.#context = this.#analyser = undefined;
  }

  /** Root mean square of the samples, 0 to 1; speech is about 0.1. */
  get now() {
    if (!this.#analyser) return 0;
    this.#analyser.getFloatTimeDomainData(this.#samples);
    return Math.sqrt(this.#samples.reduce((sum, sample) => sum + sample ** 2, 0) / this.#samples.length);
  }

  /** As people hear it: 0 for -50 dB, barely audible, to 1 for 0 dB. */
  get loudness() {
    return Math.min(1, Math.max(0, 1 + (20 * Math.log10(this.now || 1e-6)) / 50));
  }
}
