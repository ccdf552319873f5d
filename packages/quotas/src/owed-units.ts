import type { Charge, Clock, CountedKey } from '@sluice/limiter-core/backend'
import type { AccountStore } from './account/account-store.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'

/** Maximum number of sums, one for each key and hour; about 300 bytes each. */
const MAX_KEPT = 100_000
/** Maximum number of keys being charged at once, in one statement. */
const MAX_AT_ONCE = 256
const HOUR_MS = 3_600_000
const RETRY_MS = 1_000
/** Pause between attempts while `drained` waits. */
const DRAIN_MS = 50

/** Units of one key that were allowed within an hour and are not charged yet. */
interface OwedSum {
  /** When the first of the units were allowed, in epoch ms of the database's clock. */
  readonly passedAt: number
  units: number
}

/** The sums of one key, in the order in which they are charged. */
interface OwedKey extends CountedKey<QuotaCounter> {
  readonly sums: readonly OwedSum[]
}

export interface OwedUnitsOptions {
  readonly store: AccountStore
  readonly clock: Clock
  /** Called with units that could not be kept or charged. */
  readonly onLost: (units: number) => void
}

/**
 * Units that were allowed while the database was unavailable. They are charged when it replies, even beyond the limit.
 * A key has one write under way at a time: a refund that is written before its charge would find nothing to give back.
 */
export class OwedUnits {
  readonly #options: OwedUnitsOptions
  readonly #kept = new Map<string, OwedKey>()
  /** Number of sums in `#kept`. */
  #size = 0
  readonly #underWay = new Set<string>()
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
    this.units += cost
    this.#put({ key, counter, sums: [{ passedAt, units: cost }] })
    this.#schedule(0)
  }

  /** Starts to charge owed units. */
  flush(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    for (const [at, owed] of this.#kept) {
      if (this.#underWay.size === MAX_AT_ONCE) return
      if (!this.#underWay.has(at)) this.#charge(at, owed)
    }
  }

  /** Resolves when all owed units are charged, or after `stop`. */
  async drained(): Promise<void> {
    const { store, clock } = this.#options
    while (!this.#isStopped) {
      this.flush()
      store.settleUnconfirmedWrites()
      await store.idle()
      if (this.#kept.size === 0 && this.#underWay.size === 0) return
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

  #charge(at: string, owed: OwedKey): void {
    const { counter, key, sums } = owed
    this.#kept.delete(at)
    this.#size -= sums.length
    this.#underWay.add(at)
    this.#options.store.add(accountOf(owed), counter.termsOf(key), {
      apply: (account) => {
        for (const { passedAt, units } of sums) {
          // charged before the current period is opened, because unused units of the earlier period may be carried over
          const period = account.periodOf(passedAt, counter.limit)
          account.open(counter.limit).charge(period, units, passedAt)
        }
      },
      done() {},
      failed() {},
      settled: (stands) => this.#settled(at, owed, stands),
    })
  }

  #settled(at: string, owed: OwedKey, stands: boolean): void {
    this.#underWay.delete(at)
    if (stands) for (const { units } of owed.sums) this.units -= units
    else this.#put(owed, true)
    if (this.#kept.size > 0) this.#schedule(stands ? 0 : RETRY_MS)
  }

  /** Keeps sums of a key: after the sums that are kept already, or before them if they were added earlier. */
  #put({ key, counter, sums }: OwedKey, isEarlier = false): void {
    const at = `${counter.account.length} ${counter.account} ${key}`
    const kept = this.#kept.get(at)?.sums ?? []
    this.#size -= kept.length
    const all: OwedSum[] = []
    for (const sum of isEarlier ? [...sums, ...kept] : [...kept, ...sums]) {
      const same = all.find(({ passedAt }) => hourOf(passedAt) === hourOf(sum.passedAt))
      if (same) same.units += sum.units
      else if (this.#size + all.length < MAX_KEPT) all.push({ ...sum })
      else this.#lose(sum.units)
    }
    this.#size += all.length
    if (all.length > 0) this.#kept.set(at, { key, counter, sums: all })
  }

  #lose(units: number): void {
    this.units -= units
    this.#options.onLost(units)
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return
    this.#stopTimer ??= this.#options.clock.after(delayMs, () => this.flush())
  }
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS)
}
