import { type CompiledPolicy, IDEMPOTENT_MS, NUMBERS, restoreUsage } from '@sluice/limiter-core/backend'
import type { ReportedUsage } from '../remote/remote-request.ts'
import type { LimitEntry } from './limit-entry.ts'
import type { RowCharge, RowRequest } from './row-request.ts'
import { haveSameLayout } from './stored-cells.ts'

/** Returns an entry that is in memory. */
export type EntryOf = (name: string) => LimitEntry

/** Time in ms that an idempotency id is kept: later repetitions are refused by their deadline. */
const DONE_MS = 2 * IDEMPOTENT_MS

export interface DecisionTimes {
  /** Time of the decision. */
  readonly now: number
  /** Time of the storage, which differs from `now` only in tests. */
  readonly clock: number
  /** Time of the decision before which counts may have been lost. */
  readonly lostBefore: number
}

/** A charge with its entry and its cells. */
interface OpenCharge extends RowCharge {
  readonly entry: LimitEntry
  readonly done: LimitEntry | undefined
  readonly doneName: string | undefined
}

/** Decides requests on entries in memory, and collects the values to store. */
export class Decisions {
  /** Values to store, by name. */
  readonly writes: Map<string, Float64Array> = new Map()
  readonly #entryOf: EntryOf
  readonly #times: DecisionTimes
  readonly #numbers = new Float64Array(NUMBERS)

  constructor(entryOf: EntryOf, times: DecisionTimes) {
    this.#entryOf = entryOf
    this.#times = times
  }

  /**
   * Returns the numbers of the answer: for each charge of an adjustment first the units that were applied, then for each
   * charge the remaining units, and the wait, `resetAfterMs` and `availableAfterMs` in ms. Returns null if the state of a
   * key is unusable.
   */
  decide({ operation, takenAt, charges: received, doneNames }: RowRequest): (number | null)[] | null {
    const charges = received.map((charge, index): OpenCharge => {
      const doneName = doneNames?.[index]
      const done = doneName === undefined ? undefined : this.#entryOf(doneName)
      return { ...charge, entry: this.#entryOf(charge.name), done, doneName }
    })
    if (operation === 'reset') return charges.flatMap((charge) => this.#reset(charge))
    if (charges.some(({ entry, compiled }) => entry.cellsOf(compiled) === undefined)) return null
    if (!haveOneLayoutPerName(charges)) return null
    if (operation === 'adjust') return this.#adjustAll(charges, takenAt)
    return this.#takeAll(charges, operation === 'take')
  }

  #takeAll(charges: readonly OpenCharge[], isTake: boolean): (number | null)[] {
    const { now } = this.#times
    if (isTake) for (const charge of charges) this.#restore(charge)
    const waits = charges.map(({ entry, compiled, cost }) => compiled.waitMs(cellsOf(entry, compiled), 0, now, cost))
    const isTaken = isTake && charges.every(({ advisory }, index) => advisory || waits[index] === 0)
    const allFit = waits.every((waitMs) => waitMs === 0)
    const isSpent = charges.map(({ advisory }) => isTaken && (allFit || !advisory))
    // before any charge is taken, because two charges may be of one key
    const unspent = charges.map((charge, index) => (isSpent[index] ? [] : this.#verdict(charge, waits[index])))
    return charges.flatMap((charge, index) => {
      if (!isSpent[index]) return unspent[index]
      const { entry, compiled, cost } = charge
      if (cost > 0) {
        compiled.spend(cellsOf(entry, compiled), 0, now, cost)
        this.#store(charge)
      }
      return this.#verdict(charge, waits[index])
    })
  }

  #adjustAll(charges: readonly OpenCharge[], takenAt: number): (number | null)[] {
    for (const charge of charges) if (charge.done?.applied === undefined) this.#restore(charge)
    const moved: number[] = []
    // one after the other, because two charges may be of one key
    const verdicts = charges.flatMap((charge) => {
      moved.push(this.#adjust(charge, takenAt))
      return this.#verdict(charge, 0)
    })
    return [...moved, ...verdicts]
  }

  /** Returns the units that were applied. */
  #adjust(charge: OpenCharge, takenAt: number): number {
    const { entry, compiled, cost, done, doneName } = charge
    if (cost === 0) return 0
    if (done?.applied !== undefined) return done.applied
    const { now, clock } = this.#times
    const cells = cellsOf(entry, compiled)
    const lifeMs = compiled.keptMs(cells, 0, now)
    const moved = compiled.adjust(cells, 0, now, cost, takenAt)
    if (moved < 0) entry.markRefund(now, clock + Math.ceil(lifeMs))
    // units of other variants may have changed
    if (moved !== 0 || compiled.variants) this.#store(charge)
    if (done && doneName !== undefined) this.writes.set(doneName, done.setApplied(moved, clock + DONE_MS))
    return moved
  }

  #reset(charge: OpenCharge): (number | null)[] {
    const { now, clock } = this.#times
    charge.entry.reset(charge.compiled, now, clock)
    this.#store(charge)
    return this.#verdict(charge, 0)
  }

  /** Restores usage that the caller knows and the storage may have lost. */
  #restore(charge: OpenCharge): void {
    const { entry, compiled, known } = charge
    if (!known) return
    const { now } = this.#times
    const cells = cellsOf(entry, compiled)
    const before = cells.slice()
    const used = this.#mayLack(known, entry) ? known.used : 0
    const admitted = known.admittedAt > entry.resetAt ? known.admitted : undefined
    restoreUsage(compiled, cells, 0, now, { used, resetAfterMs: known.resetAfterMs, admitted })
    if (cells.some((cell, index) => cell !== before[index])) this.#store(charge)
  }

  #mayLack({ usedAt }: ReportedUsage, { resetAt, refundedAt }: LimitEntry): boolean {
    const isValid = usedAt > Math.max(resetAt, refundedAt)
    return isValid && (usedAt === Number.POSITIVE_INFINITY || usedAt <= this.#times.lostBefore)
  }

  #store({ name, entry }: OpenCharge): void {
    this.writes.set(name, entry.toStored(this.#times.now, this.#times.clock))
  }

  #verdict({ entry, compiled, cost }: OpenCharge, waitMs: number): (number | null)[] {
    compiled.numbers(cellsOf(entry, compiled), 0, this.#times.now, cost, waitMs, this.#numbers)
    const [, remaining, resetAfterMs, availableMs] = this.#numbers
    return [remaining, waitMs, resetAfterMs, availableMs]
  }
}

function cellsOf(entry: LimitEntry, compiled: CompiledPolicy): Float64Array {
  return entry.cellsOf(compiled) as Float64Array
}

/** Whether charges with one name are of policies with the same cells. */
function haveOneLayoutPerName(charges: readonly RowCharge[]): boolean {
  return charges.every(({ name, compiled }, index) =>
    charges.every(
      (other, before) =>
        before >= index ||
        other.name !== name ||
        other.compiled === compiled ||
        haveSameLayout(other.compiled, compiled),
    ),
  )
}
