import { checkTopic } from '@sluice/fleet/backend'
import { type Observers, type Script, SluiceError, shown } from '@sluice/limiter-core/backend'
import { channelSums } from '../lua/scripts.ts'
import type { TopicContent } from './channel-exchange.ts'

/** Maximum number of sums sent and received per call. Such a call takes Redis about 2 ms. */
const BATCH_SUMS = 1_000

export interface SumsBounds {
  /** Maximum number of sums in Redis. */
  readonly maxSums: number
  /** Maximum number of sums with unsent amounts in this process. */
  readonly maxUnsent: number
  readonly observers: Observers
}

/** Sums as known to this process: the values in Redis at the last tick plus the amounts that were added since. */
export class ChannelDeltas implements TopicContent {
  readonly script: Script = channelSums
  readonly keys: readonly string[]
  readonly settings: readonly number[]
  readonly topic: string
  listening = true
  readonly #maxUnsent: number
  readonly #observers: Observers
  /** Values received from Redis, plus acknowledged amounts of this process. */
  readonly #merged = new Map<string, number>()
  /** Version of the last change received for each sum, in ascending order. */
  readonly #versions = new Map<string, number>()
  readonly #unsent = new Map<string, number>()
  /** Amounts in the batch that is not acknowledged yet. */
  readonly #sent = new Map<string, number>()
  #dropped = 0

  /** `name` is the first part of the Redis keys. Its braces put all of them into one hash slot. */
  constructor(topic: string, name: string, { maxSums, maxUnsent, observers }: SumsBounds) {
    this.topic = topic
    this.settings = [BATCH_SUMS, maxSums]
    this.keys = [`${name}:sums`, `${name}:values`, `${name}:versions`]
    this.#maxUnsent = maxUnsent
    this.#observers = observers
  }

  get waiting(): number {
    return this.#unsent.size / BATCH_SUMS
  }

  /**
   * Adds `amount` to a sum. Drops it if `maxUnsent` other sums have unsent amounts. Throws `SLUICE_BAD_MESSAGE` if the
   * name is invalid, or if the amount or the unsent amount of the sum is not a safe integer.
   */
  add(name: string, amount: number): void {
    checkTopic('add', name)
    const before = this.#unsent.get(name)
    const sum = (before ?? 0) + amount
    if (!Number.isSafeInteger(amount) || !Number.isSafeInteger(sum)) {
      const expected = 'an integer that keeps the unsent amount below 2^53'
      throw new SluiceError('SLUICE_BAD_MESSAGE', `add: amount: expected ${expected}, received ${shown(amount)}`)
    }
    if (before === undefined && this.#unsent.size >= this.#maxUnsent) this.#dropped++
    else this.#unsent.set(name, sum)
  }

  get(name: string): number {
    return (this.#merged.get(name) ?? 0) + (this.#sent.get(name) ?? 0) + (this.#unsent.get(name) ?? 0)
  }

  /** Reports the number of amounts that were dropped since the last call to the observers. */
  reportDropped(): void {
    if (this.#dropped > 0) this.#observers.event('sync', { topic: this.topic, dropped: this.#dropped })
    this.#dropped = 0
  }

  next(): readonly (string | number)[] | undefined {
    if (this.#unsent.size === 0) return undefined
    const batch: (string | number)[] = []
    for (const [name, amount] of this.#unsent) {
      if (this.#sent.size >= BATCH_SUMS) break
      this.#unsent.delete(name)
      this.#sent.set(name, amount)
      batch.push(name, amount)
    }
    return batch
  }

  /** Adds the sent amounts to the known values. Later replies of Redis include them. */
  acknowledged(): void {
    for (const [name, amount] of this.#sent) this.#merged.set(name, (this.#merged.get(name) ?? 0) + amount)
    this.#sent.clear()
  }

  abandoned(): void {
    this.#dropped += this.#sent.size
    this.#sent.clear()
  }

  isValid([forgotten, ...news]: readonly unknown[]): boolean {
    const numbers = news.filter((_, at) => at % 3 !== 0)
    return news.length % 3 === 0 && [forgotten, ...numbers].every(isNumber)
  }

  received([forgotten, ...news]: readonly unknown[], missed: boolean): void {
    if (missed) {
      this.#merged.clear()
      this.#versions.clear()
      this.#observers.event('sync', { topic: this.topic, missed: true })
    }
    this.#forget(Number(forgotten))
    for (let at = 0; at < news.length; at += 3) {
      const name = String(news[at])
      this.#merged.set(name, Number(news[at + 1]))
      this.#versions.delete(name)
      this.#versions.set(name, Number(news[at + 2]))
    }
  }

  #forget(upTo: number): void {
    for (const [name, version] of this.#versions) {
      if (version > upTo) return
      this.#versions.delete(name)
      this.#merged.delete(name)
    }
  }
}

/** Whether a field of a reply is an integer, which may be above 2^53. */
function isNumber(field: unknown): boolean {
  return /^-?\d{1,20}$/.test(String(field))
}
