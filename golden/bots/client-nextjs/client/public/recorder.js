/** Runs beside the page: gives it the microphone's samples as 16-bit numbers. */
class Recorder extends AudioWorkletProcessor {
  #samples = new Int16Array(320); // 20 ms
  #filled = 0;

  process([[given]]) {
    for (const sample of given ?? []) {
      this.#samples[this.#filled++] = Math.max(-1, Math.min(1, sample)) * 32767;
      if (this.#filled < this.#samples.length) continue;
      this.port.postMessage(this.#samples.slice().buffer);
      this.#filled = 0;
    }
    return true;
  }
}

registerProcessor("recorder", Recorder);
