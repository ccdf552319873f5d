import { PRIORITIES } from '../../priorities.ts'
import type { ShedSnapshot } from '../report/cap-snapshot.ts'
import type { ShedReport } from '../report/process-report.ts'
import { PriorityRates } from './priority-rates.ts'

/** Requests that one policy has shed in all processes. */
export class FleetShed {
  readonly name: string
  readonly #rates = new PriorityRates()

  constructor(name: string) {
    this.name = name
  }

  /** Adds shed requests, in the order of `PRIORITIES`. */
  add(byPriority: readonly number[], at: number): void {
    this.#rates.add(byPriority, at)
  }

  /** `seconds` is the length of the recent period. */
  snapshot(at: number, seconds: number, reports: readonly ShedReport[]): ShedSnapshot {
    const [highest] = reports.toSorted((a, b) => (b.pressure ?? 0) - (a.pressure ?? 0))
    const all = PRIORITIES.map((priority, index) => ({
      priority,
      shed: reports.reduce((sum, { byPriority }) => sum + byPriority[index], 0),
      perSecond: this.#rates.perSecond(priority, at, seconds),
    }))
    return {
      policy: this.name,
      byPriority: all.filter(({ shed }) => shed > 0),
      shadow: reports.reduce((sum, { shadow }) => sum + shadow, 0),
      pressure: highest?.pressure ?? null,
      signal: highest?.signal ?? null,
    }
  }
}
