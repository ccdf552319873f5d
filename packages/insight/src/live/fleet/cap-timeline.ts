import type { TDigest } from '@sluice/sketches'
import { PRIORITIES } from '../../priorities.ts'
import type { CapTimelineSnapshot } from '../report/cap-snapshot.ts'
import { newDigest } from '../report/recent-digest.ts'

export const TIMELINE_STEP_MS = 2_000
/** Five minutes. */
export const TIMELINE_STEPS = 150

const STATES = ['limit', 'held', 'waiting', 'p50', 'p99'] as const
type Row = Omit<CapTimelineSnapshot, 'cap' | 'values'>
const ROWS: readonly Row[] = [
  ...STATES.map((measure) => ({ measure })),
  ...PRIORITIES.map((priority) => ({ measure: 'denied' as const, priority })),
]
const FIRST_DENIED = STATES.length

/** State of a cap over all processes. */
export interface CapState {
  readonly limit: number
  readonly held: number
  readonly waiting: number
}

/** One cap over the last five minutes, in steps of two seconds. Takes 12 KB. */
export class CapTimeline {
  // NaN if nothing is known
  readonly #rows = ROWS.map(() => new Float64Array(TIMELINE_STEPS).fill(Number.NaN))
  /** Hold times of the newest step. */
  readonly #holds = newDigest()
  #newest = Number.NEGATIVE_INFINITY

  /** Records a state: the last limit of a step, and the highest other numbers. */
  state({ limit, held, waiting }: CapState, at: number): void {
    const place = this.#advance(at)
    const [limits, mostHeld, mostWaiting] = this.#rows
    limits[place] = limit
    mostHeld[place] = Math.max(mostHeld[place] || 0, held)
    mostWaiting[place] = Math.max(mostWaiting[place] || 0, waiting)
  }

  /** Throws `SLUICE_SKETCH_MISMATCH` for a digest that was not created by `newDigest`. */
  held(durations: TDigest, at: number): void {
    const place = this.#advance(at)
    this.#holds.merge(durations)
    const [, , , p50, p99] = this.#rows
    p50[place] = tenths(this.#holds.quantile(0.5))
    p99[place] = tenths(this.#holds.quantile(0.99))
  }

  /** Adds denials, in the order of `PRIORITIES`. */
  denied(amounts: readonly number[], at: number): void {
    const place = this.#advance(at)
    amounts.forEach((amount, index) => {
      const row = this.#rows[FIRST_DENIED + index]
      row[place] = (row[place] || 0) + amount
    })
  }

  /** Returns the series of the last `steps` steps. Waiting and denied requests are left out if there were none. */
  series(cap: string, steps: number, at: number): CapTimelineSnapshot[] {
    const all = ROWS.map((row, index) => ({ cap, ...row, values: this.#values(this.#rows[index], steps, at) }))
    const isEmpty = (values: readonly (number | null)[]): boolean => values.every((value) => !value)
    return all.filter(({ measure, values }) => measure === 'limit' || measure === 'held' || !isEmpty(values))
  }

  #values(row: Float64Array, steps: number, at: number): (number | null)[] {
    const last = Math.floor(at / TIMELINE_STEP_MS)
    return Array.from({ length: steps }, (_, index) => {
      const step = last - steps + 1 + index
      const value = step > this.#newest || step <= this.#newest - TIMELINE_STEPS ? Number.NaN : row[placeOf(step)]
      return Number.isNaN(value) ? null : value
    })
  }

  /** Returns the place of the step of `at`, or of the newest step if the clock has been set back. */
  #advance(at: number): number {
    const step = Math.floor(at / TIMELINE_STEP_MS)
    if (step > this.#newest) {
      for (let passed = Math.max(this.#newest + 1, step - TIMELINE_STEPS + 1); passed <= step; passed++) {
        for (const row of this.#rows) row[placeOf(passed)] = Number.NaN
      }
      this.#newest = step
      this.#holds.clear()
    }
    return placeOf(this.#newest)
  }
}

function placeOf(step: number): number {
  return step % TIMELINE_STEPS
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10
}
