import type { TDigest } from '@sluice/sketches'
import { boundedText } from '../../bounded-text.ts'
import type { CapReport } from '../report/process-report.ts'
import { newDigest } from '../report/recent-digest.ts'

/** Statistics of one cap in this process. */
export class CapSummary {
  readonly name: string
  /** Hold times in ms since the last report. */
  readonly holds: TDigest = newDigest()
  #limit = 0
  #held = 0
  #peak = 0
  #denied = 0

  constructor(name: string) {
    this.name = boundedText(name)
  }

  acquired(limit: number): void {
    this.#limit = limit
    this.#held++
    if (this.#held > this.#peak) this.#peak = this.#held
  }

  released(limit: number, heldMs: number): void {
    this.#limit = limit
    // the permit may have been acquired before the insight was attached
    if (this.#held > 0) this.#held--
    if (Number.isFinite(heldMs) && heldMs >= 0) this.holds.add(heldMs)
  }

  denied(limit: number): void {
    this.#limit = limit
    this.#denied++
  }

  report(): CapReport {
    return { name: this.name, limit: this.#limit, held: this.#held, peak: this.#peak, denied: this.#denied }
  }

  /** Starts a new peak after a report. */
  resetPeak(): void {
    this.#peak = this.#held
  }
}
