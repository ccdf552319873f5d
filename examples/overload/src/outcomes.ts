/** What happened to the requests of one route. */
export class Outcomes {
  sent = 0
  /** Refused by the shop with 503. */
  refused = 0
  /** Not answered within the time that a client waits. */
  late = 0
  /** Durations of answered requests in ms. */
  readonly durationsMs: number[] = []

  get open(): number {
    return this.sent - this.refused - this.late - this.durationsMs.length
  }

  report(): OutcomesReport {
    const sorted = this.durationsMs.toSorted((a, b) => a - b)
    const at = (share: number): number | undefined => sorted[Math.floor(share * (sorted.length - 1))]
    const { sent, refused, late } = this
    return { sent, answered: sorted.length, refused, late, p50: at(0.5), p99: at(0.99) }
  }
}

export interface OutcomesReport {
  readonly sent: number
  readonly answered: number
  readonly refused: number
  readonly late: number
  /** Percentiles of the durations of answered requests in ms; undefined if there are none. */
  readonly p50?: number | undefined
  readonly p99?: number | undefined
}

/** Outcomes of a phase by route. */
export type PhaseReport = Readonly<Record<string, OutcomesReport>>
