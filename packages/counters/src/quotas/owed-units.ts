import type { Charge, Clock } from '@sluice/limiter-core/backend'
import type { AccountStore } from './account-store.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'

/** Keys and hours of which units are kept at most; some 300 bytes each. */
const MOST_KEPT = 100_000
/** Sent at once: one statement. */
const AT_ONCE = 256
const HOUR_MS = 3_600_000
const RETRY_MS = 1_000
/** Between two goes at what is owed, while somebody waits for all of it. */
const DRAIN_MS = 50

/** Units of one key that were let pass within an hour. */
interface OwedSum {
  readonly key: string
  readonly counter: QuotaCounter
  /** By the database's clock: of the first of them. */
  readonly passedAt: number
  units: number
}

export interface OwedUnitsOptions {
  readonly store: AccountStore
  readonly clock: Clock
  /** Told of units for which there was no room. */
  readonly lost: (units: number) => void
}

/** Units that passed while the database did not answer: kept, and charged when it does, beyond the limit too. */
export class OwedUnits {
  readonly #options: OwedUnitsOptions
  #kept = new Map<string, OwedSum>()
  #underWay = 0
  #isStopped = false
  #stopTimer: (() => void) | undefined
  #stopPause = (): void => {}

  constructor(options: OwedUnitsOptions) {
    this.#options = options
  }

  /** Units that are not charged yet; those of a write without an answer among them. */
  units = 0

  add({ key, counter, cost }: Charge<QuotaCounter>, passedAt: number): void {
    if (this.#isStopped) {
      this.#options.lost(cost)
      return
    }
    this.#put({ key, counter, passedAt, units: cost })
    this.units += cost
    this.#schedule(0)
  }

  /** Charges what is owed, as far as the database answers. */
  flush(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    const sums = [...this.#kept].slice(0, AT_ONCE - this.#underWay)
    for (const [at, sum] of sums) {
      this.#kept.delete(at)
      this.#charge(sum)
    }
  }

  /** Resolves when all that is owed is charged, or when it is stopped. */
  async drained(): Promise<void> {
    const { store, clock } = this.#options
    while (!this.#isStopped) {
      this.flush()
      store.settleDoubts()
      await store.idle()
      if (this.#kept.size === 0 && this.#underWay === 0) return
      if (this.#isStopped) return
      await new Promise<void>((resolve) => {
        this.#stopPause = clock.after(DRAIN_MS, resolve)
      })
    }
  }

  /** What is not charged yet is lost. */
  stop(): void {
    this.#isStopped = true
    this.#stopTimer?.()
    this.#stopPause()
    if (this.units !== 0) this.#options.lost(this.units)
  }

  #charge(sum: OwedSum): void {
    const { counter, units, passedAt } = sum
    this.#underWay++
    this.#options.store.add(accountOf(sum), counter.terms, {
      apply: (account) => {
        // before the one that runs: what is left of it may be carried over
        const period = account.periodOf(passedAt, counter.limit)
        account.open(counter.limit).charge(period, units, passedAt)
      },
      done() {},
      failed() {},
      settled: (stands) => this.#settled(sum, stands),
    })
  }

  #settled(sum: OwedSum, stands: boolean): void {
    this.#underWay--
    if (stands) this.units -= sum.units
    else this.#put(sum)
    if (this.#kept.size > 0) this.#schedule(stands ? 0 : RETRY_MS)
  }

  #put(sum: OwedSum): void {
    const at = `${Math.floor(sum.passedAt / HOUR_MS)} ${sum.counter.name.length} ${sum.counter.name} ${sum.key}`
    const kept = this.#kept.get(at)
    if (kept) kept.units += sum.units
    else if (this.#kept.size < MOST_KEPT) this.#kept.set(at, { ...sum })
    else {
      this.units -= sum.units
      this.#options.lost(sum.units)
    }
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return
    this.#stopTimer ??= this.#options.clock.after(delayMs, () => this.flush())
  }
}
