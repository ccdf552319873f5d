/** The median of so many samples is precise enough for every algorithm. */
export const MOST_SAMPLES = 256

/** The last `MOST_SAMPLES` durations of work, and sums over all. Durations are above 0. */
export class Samples {
  readonly durations: number[] = []
  /** Places held when the work of each duration began, its own included. */
  readonly inflights: number[] = []
  count = 0
  durationSum = 0
  inflightSum = 0
  maxInflight = 0

  /** Mean of the durations; 0 if there are none. */
  get meanMs(): number {
    return this.count === 0 ? 0 : this.durationSum / this.count
  }

  add(durationMs: number, inflight: number): void {
    this.durations[this.count % MOST_SAMPLES] = durationMs
    this.inflights[this.count % MOST_SAMPLES] = inflight
    this.count++
    this.durationSum += durationMs
    this.inflightSum += inflight
    if (inflight > this.maxInflight) this.maxInflight = inflight
  }
}
