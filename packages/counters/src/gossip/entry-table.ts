import { SluiceError } from '@sluice/limiter-core/backend'
import type { CounterAmount } from './counter-amount.ts'

/** One counter, of all replicas. */
interface CounterSum {
  epoch: number
  units: bigint
  /** Entries of the latest epoch that are not deleted. */
  listed: number
  /** How often it changed here. */
  version: number
  /** Epoch ms. */
  updatedAt: number
}

/** What each replica counted, and the sums of that. */
export class EntryTable {
  readonly #entries = new Map<string, Map<string, CounterAmount>>()
  readonly #sums = new Map<string, CounterSum>()

  /** Ids of which something is kept. */
  get size(): number {
    return this.#sums.size
  }

  /** Entries of all replicas. */
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

  /** Throws `SLUICE_COUNTER_RANGE` where replicas that did not know of each other left ±(2^53 - 1). */
  valueOf(id: string): number {
    return exactNumber(this.#sums.get(id)?.units ?? 0n)
  }

  /** Undefined for an id of which nothing is kept. */
  sumOf(id: string): Readonly<CounterSum> | undefined {
    return this.#sums.get(id)
  }

  isListed(id: string): boolean {
    return (this.#sums.get(id)?.listed ?? 0) > 0
  }

  /** Of counters that are not deleted, in no order. */
  *idsFrom(prefix: string): Iterable<string> {
    for (const [id, { listed }] of this.#sums) if (listed > 0 && id.startsWith(prefix)) yield id
  }

  /** Counters that were deleted before a time in epoch ms, and not counted since. */
  deletedBefore(time: number): string[] {
    return [...this.#sums].filter(([, sum]) => sum.listed === 0 && sum.updatedAt < time).map(([id]) => id)
  }

  /** Throws `SLUICE_COUNTER_RANGE`. */
  sum(prefix: string): number {
    let sum = 0n
    for (const id of this.idsFrom(prefix)) sum += this.#sums.get(id)?.units ?? 0n
    return exactNumber(sum)
  }

  /** How many replicas have an entry of it. */
  entriesOf(id: string): number {
    let count = 0
    for (const amounts of this.#entries.values()) if (amounts.has(id)) count++
    return count
  }

  amountsOf(replica: string): ReadonlyMap<string, CounterAmount> {
    return this.#entries.get(replica) ?? new Map()
  }

  /** `amount` stands in the place of what the replica had. `updatedAt`: epoch ms. */
  put(replica: string, id: string, amount: CounterAmount, updatedAt: number): void {
    const amounts = this.#entries.get(replica) ?? new Map<string, CounterAmount>()
    this.#entries.set(replica, amounts)
    const sum = this.#sums.get(id) ?? { epoch: 0, units: 0n, listed: 0, version: 0, updatedAt }
    this.#sums.set(id, sum)
    sum.version++
    sum.updatedAt = Math.max(sum.updatedAt, updatedAt)
    count(sum, amounts.get(id), -1)
    amounts.set(id, amount)
    if (amount.epoch > sum.epoch) this.#countAnew(id, sum, amount.epoch)
    else count(sum, amount, 1)
  }

  /** Takes away all entries of a replica: another one has them now. */
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

  /** Forgets an id with all of its entries. */
  forget(id: string): void {
    for (const amounts of this.#entries.values()) amounts.delete(id)
    this.#sums.delete(id)
  }

  #countAnew(id: string, sum: CounterSum, epoch: number): void {
    sum.epoch = epoch
    sum.units = 0n
    sum.listed = 0
    for (const amounts of this.#entries.values()) count(sum, amounts.get(id), 1)
  }
}

/** Adds an entry to a sum, or takes it away. */
function count(sum: CounterSum, amount: CounterAmount | undefined, sign: 1 | -1): void {
  if (amount?.epoch !== sum.epoch) return
  sum.units += BigInt(sign) * amount.units
  if (!amount.isDeleted) sum.listed += sign
}

function exactNumber(units: bigint): number {
  const value = Number(units)
  if (Number.isSafeInteger(value)) return value
  throw new SluiceError('SLUICE_COUNTER_RANGE', 'value: expected one within, received a sum beyond ±(2^53 - 1)')
}
