import { SluiceError } from '@sluice/limiter-core/backend'
import type { CounterAmount } from './counter-amount.ts'

/** Sum of one counter over all replicas. */
interface CounterSum {
  epoch: number
  units: bigint
  /** Number of entries of the latest epoch that are not deleted. */
  listed: number
  /** Number of changes in this process. */
  version: number
  /** Epoch ms. */
  updatedAt: number
}

/** Entries of each replica, and their sums by id. */
export class EntryTable {
  readonly #entries = new Map<string, Map<string, CounterAmount>>()
  readonly #sums = new Map<string, CounterSum>()

  /** Number of ids, including deleted ones that are still kept. */
  get size(): number {
    return this.#sums.size
  }

  /** Number of entries of all replicas. */
  get entries(): number {
    let count = 0
    for (const amounts of this.#entries.values()) count += amounts.size
    return count
  }

  has(id: string): boolean {
    return this.#sums.has(id)
  }

  epochOf(id: string): number {
    return this.#sums.get(id)?.epoch ?? 0
  }

  /**
   * Returns the value of an id, 0 if it is unknown. Throws `SLUICE_COUNTER_RANGE` if the sum of the replicas is outside
   * ±(2^53 - 1), because they counted without knowing of each other.
   */
  valueOf(id: string): number {
    return exactNumber(this.#sums.get(id)?.units ?? 0n)
  }

  /** Returns undefined for an unknown id. */
  sumOf(id: string): Readonly<CounterSum> | undefined {
    return this.#sums.get(id)
  }

  isListed(id: string): boolean {
    return (this.#sums.get(id)?.listed ?? 0) > 0
  }

  /** Yields the ids of counters that are not deleted, in no particular order. */
  *idsFrom(prefix: string): Iterable<string> {
    for (const [id, { listed }] of this.#sums) if (listed > 0 && id.startsWith(prefix)) yield id
  }

  /** Returns the ids of counters that were deleted before `time` (epoch ms) and not counted since. */
  deletedBefore(time: number): string[] {
    return [...this.#sums].filter(([, sum]) => sum.listed === 0 && sum.updatedAt < time).map(([id]) => id)
  }

  /** Returns the sum of all ids with a prefix. Throws `SLUICE_COUNTER_RANGE` outside ±(2^53 - 1). */
  sum(prefix: string): number {
    let sum = 0n
    for (const id of this.idsFrom(prefix)) sum += this.#sums.get(id)?.units ?? 0n
    return exactNumber(sum)
  }

  /** Returns how many replicas have an entry of an id. */
  entriesOf(id: string): number {
    let count = 0
    for (const amounts of this.#entries.values()) if (amounts.has(id)) count++
    return count
  }

  amountsOf(replica: string): ReadonlyMap<string, CounterAmount> {
    return this.#entries.get(replica) ?? new Map()
  }

  /** Replaces the entry of a replica. `updatedAt`: epoch ms. */
  put(replica: string, id: string, amount: CounterAmount, updatedAt: number): void {
    const amounts = this.#entries.get(replica) ?? new Map<string, CounterAmount>()
    this.#entries.set(replica, amounts)
    const sum = this.#sums.get(id) ?? { epoch: 0, units: 0n, listed: 0, version: 0, updatedAt }
    this.#sums.set(id, sum)
    sum.version++
    sum.updatedAt = Math.max(sum.updatedAt, updatedAt)
    count(sum, amounts.get(id), -1)
    amounts.set(id, amount)
    if (amount.epoch > sum.epoch) this.#startEpoch(id, sum, amount.epoch)
    else count(sum, amount, 1)
  }

  /** Removes all entries of a replica, after another one took them over. */
  drop(replica: string): void {
    const amounts = this.#entries.get(replica)
    this.#entries.delete(replica)
    for (const [id, amount] of amounts ?? []) {
      const sum = this.#sums.get(id)
      if (!sum) continue
      count(sum, amount, -1)
      sum.version++
    }
  }

  /** Forgets an id and all of its entries. */
  forget(id: string): void {
    for (const amounts of this.#entries.values()) amounts.delete(id)
    this.#sums.delete(id)
  }

  #startEpoch(id: string, sum: CounterSum, epoch: number): void {
    sum.epoch = epoch
    sum.units = 0n
    sum.listed = 0
    for (const amounts of this.#entries.values()) count(sum, amounts.get(id), 1)
  }
}

/** Adds an entry to a sum, or subtracts it. Entries of earlier epochs are ignored. */
function count(sum: CounterSum, amount: CounterAmount | undefined, sign: 1 | -1): void {
  if (amount?.epoch !== sum.epoch) return
  sum.units += BigInt(sign) * amount.units
  if (!amount.isDeleted) sum.listed += sign
}

function exactNumber(units: bigint): number {
  const value = Number(units)
  if (Number.isSafeInteger(value)) return value
  throw new SluiceError('SLUICE_COUNTER_RANGE', 'counters: expected a value within ±(2^53 - 1), received a larger sum')
}
