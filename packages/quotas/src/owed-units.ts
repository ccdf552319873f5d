import type { Charge, Clock } from '@sluice/limiter-core/backend'
import type { AccountStore } from './account/account-store.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'

/** Maximum number of sums, one for each key and hour; about 300 bytes each. */
const MAX_KEPT = 100_000
/** Maximum number of sums being charged at once, in one statement. */
const MAX_AT_ONCE = 256
const HOUR_MS = 3_600_000
const RETRY_MS = 1_000
/** Pause between attempts while `drained` waits. */
const DRAIN_MS = 50

/** Units of one key that were allowed within an hour and are not charged yet. */
interface OwedSum {
  readonly key: string
  readonly counter: QuotaCounter
  /** When the first of the units were allowed, in epoch ms of the database's clock. */
  readonly passedAt: number
  units: number
}

export interface OwedUnitsOptions {
  readonly store: AccountStore
  readonly clock: Clock
  /** Called with units that could not be kept or charged. */
  readonly onLost: (units: number) => void
}

/**
 * Units that were allowed while the database was unavailable. They are charged when it replies, even beyond the limit.
 */
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

  /** Units not charged yet, including units in writes without a reply. */
  units = 0

  add({ key, counter, cost }: Charge<QuotaCounter>, passedAt: number): void {
    if (this.#isStopped) {
      this.#options.onLost(cost)
      return
    }
    this.#put({ key, counter, passedAt, units: cost })
    this.units += cost
    this.#schedule(0)
  }

  /** Starts to charge owed units. */
  flush(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    const sums = [...this.#kept].slice(0, MAX_AT_ONCE - this.#underWay)
    for (const [at, sum] of sums) {
      this.#kept.delete(at)
      this.#charge(sum)
    }
  }

  /** Resolves when all owed units are charged, or after `stop`. */
  async drained(): Promise<void> {
    const { store, clock } = this.#options
    while (!this.#isStopped) {
      this.flush()
      store.settleUnconfirmedWrites()
      await store.idle()
      if (this.#kept.size === 0 && this.#underWay === 0) return
      if (this.#isStopped) return
      await new Promise<void>((resolve) => {
        this.#stopPause = clock.after(DRAIN_MS, resolve)
      })
    }
  }

  /** Stops charging and reports the units not charged yet as lost. */
  stop(): void {
    this.#isStopped = true
    this.#stopTimer?.()
    this.#stopPause()
    if (this.units !== 0) this.#options.onLost(this.units)
  }

  #charge(sum: OwedSum): void {
    const { counter, units, passedAt } = sum
    this.#underWay++
    this.#options.store.add(accountOf(sum), counter.terms, {
      apply: (account) => {
        // charged before the current period is opened, because unused units of the earlier period may be carried over
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
    else if (this.#kept.size < MAX_KEPT) this.#kept.set(at, { ...sum })
    else {
      this.units -= sum.units
      this.#options.onLost(sum.units)
    }
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return
    this.#stopTimer ??= this.#options.clock.after(delayMs, () => this.flush())
  }
}
