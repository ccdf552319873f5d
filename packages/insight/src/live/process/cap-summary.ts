import type { CapHandle, ObservedCap } from '@sluice/limiter-core'
import type { TDigest } from '@sluice/sketches'
import { boundedText } from '../../bounded-text.ts'
import { DENIAL_REASONS, indexOfPriority, indexOfReason, PRIORITIES } from '../../priorities.ts'
import type { CapReport } from '../report/process-report.ts'
import { newDigest } from '../report/recent-digest.ts'

/** Statistics of one cap in this process. */
export class CapSummary {
  readonly name: string
  /** Hold times in ms since the last report. */
  readonly holds: TDigest = newDigest()
  readonly #admitted = PRIORITIES.map(() => 0)
  readonly #denied = PRIORITIES.map(() => 0)
  readonly #reasons = DENIAL_REASONS.map(() => 0)
  #limit = 0
  #isLocal = false
  #objective: CapReport['objective']
  #held = 0
  #peak = 0

  constructor(name: string) {
    this.name = boundedText(name)
  }

  opened({ limit, isLocal, objective }: CapHandle): void {
    this.#limit = limit
    this.#isLocal = isLocal
    this.#objective = objective
  }

  acquired({ limit, priority }: ObservedCap): void {
    this.#limit = limit
    this.#held++
    if (this.#held > this.#peak) this.#peak = this.#held
    this.#admitted[indexOfPriority(priority)]++
  }

  released({ limit }: ObservedCap, heldMs: number): void {
    this.#limit = limit
    // the permit may have been acquired before the insight was attached
    if (this.#held > 0) this.#held--
    if (Number.isFinite(heldMs) && heldMs >= 0) this.holds.add(heldMs)
  }

  denied({ limit, priority, reason }: ObservedCap): void {
    this.#limit = limit
    this.#denied[indexOfPriority(priority)]++
    this.#reasons[indexOfReason(reason)]++
  }

  report(waiting: number): CapReport {
    return {
      name: this.name,
      limit: this.#limit,
      isLocal: this.#isLocal,
      held: this.#held,
      peak: this.#peak,
      waiting,
      denied: this.#denied.reduce((sum, count) => sum + count, 0),
      byPriority: [...this.#admitted, ...this.#denied],
      byReason: [...this.#reasons],
      objective: this.#objective,
    }
  }

  /** Starts a new peak after a report. */
  resetPeak(): void {
    this.#peak = this.#held
  }
}
