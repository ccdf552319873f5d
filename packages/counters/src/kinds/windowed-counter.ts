import { badOption, type Duration, optionsOf, parseMs, SluiceError, shown } from '@sluice/limiter-core/backend'
import { checkDelta } from '../counter-delta.ts'
import { readWindowBytes, windowBytes } from './window-bytes.ts'

export interface WindowedCounterOptions {
  /** Length of the window. Default: 1 minute. */
  readonly windowMs?: Duration | undefined
  /**
   * Length of a bucket: an integer number of ms that divides the window into 1 to 10,000 buckets. Default: 1/60 of the
   * window, rounded down to whole ms, at least 1 ms.
   */
  readonly grainMs?: Duration | undefined
}

const MAX_BUCKETS = 10_000
const DEFAULT_BUCKETS = 60

/**
 * Count of the last window, kept in a ring of buckets of 8 bytes each; a new bucket replaces the oldest. It does not
 * read a clock: callers pass `now` in ms of any one clock, and `now` is trusted.
 *
 * A sum covers the bucket of `now` and the buckets before it, so it reaches back between one window less one grain and
 * one window. The newest `now` of a write decides which buckets are kept; older buckets are dropped.
 */
export class WindowedCounter {
  readonly windowMs: number
  readonly grainMs: number
  /** Maximum amount in a bucket, so that no sum leaves ±(2^53 - 1). */
  readonly #most: number
  readonly #buckets: Float64Array
  /** Number of the newest bucket since time 0; -Infinity before the first write. */
  #newest = Number.NEGATIVE_INFINITY

  /** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. */
  constructor(options: WindowedCounterOptions = {}) {
    const { windowMs = 60_000, grainMs } = optionsOf('WindowedCounter', options, ['windowMs', 'grainMs'])
    this.windowMs = parseMs(windowMs, 'WindowedCounter: windowMs')
    this.grainMs = parseMs(
      grainMs ?? Math.max(1, Math.floor(this.windowMs / DEFAULT_BUCKETS)),
      'WindowedCounter: grainMs',
    )
    const buckets = this.windowMs / this.grainMs
    if (!Number.isSafeInteger(this.grainMs) || !Number.isInteger(buckets) || buckets < 1 || buckets > MAX_BUCKETS) {
      throw badOption(
        'WindowedCounter: grainMs',
        grainMs ?? this.grainMs,
        `whole ms that divide windowMs into 1 to ${MAX_BUCKETS} buckets`,
      )
    }
    this.#buckets = new Float64Array(buckets)
    this.#most = Math.floor(Number.MAX_SAFE_INTEGER / buckets)
  }

  /** Restores a counter from `toBytes`. Throws `SLUICE_BAD_MESSAGE` for any other bytes. */
  static fromBytes(bytes: Uint8Array): WindowedCounter {
    const { windowMs, grainMs, newest, buckets } = readWindowBytes(bytes, MAX_BUCKETS)
    const counter = new WindowedCounter({ windowMs, grainMs })
    if (buckets.some((amount) => Math.abs(amount) > counter.#most)) {
      throw new SluiceError(
        'SLUICE_BAD_MESSAGE',
        'bytes: expected the toBytes() of a WindowedCounter, received a bucket outside its range',
      )
    }
    counter.#buckets.set(buckets)
    counter.#newest = newest
    return counter
  }

  /**
   * Counts `delta`, an integer, at `now`. Returns false and counts nothing if `now` is older than the window. Throws
   * `SLUICE_BAD_DELTA`, `SLUICE_BAD_OPTION` if `now` is not a time, and `SLUICE_COUNTER_RANGE` if its bucket would
   * leave ±(2^53 - 1) divided by the number of buckets.
   */
  increment(delta: number, now: number): boolean {
    checkDelta(delta)
    const bucket = this.#bucketOf('increment', now)
    if (bucket <= this.#newest - this.#buckets.length) return false
    const amount = (bucket > this.#newest ? 0 : this.#buckets[this.#slotOf(bucket)]) + delta
    if (Math.abs(amount) > this.#most) throw this.#beyondRange(delta)
    this.#advance(bucket)
    this.#buckets[this.#slotOf(bucket)] = amount
    return true
  }

  /**
   * Returns the count of the window that ends with the bucket of `now`. Throws `SLUICE_BAD_OPTION` if `now` is not a
   * time.
   */
  sum(now: number): number {
    const last = this.#bucketOf('sum', now)
    const first = Math.max(last, this.#newest) - this.#buckets.length + 1
    let sum = 0
    for (let bucket = first; bucket <= Math.min(last, this.#newest); bucket++)
      sum += this.#buckets[this.#slotOf(bucket)]
    return sum
  }

  /**
   * Adds the counts of `other` bucket by bucket; buckets older than the merged window are dropped. Merging the same
   * counter twice counts it twice. Throws `SLUICE_BAD_MESSAGE` if its window or grain differs, and
   * `SLUICE_COUNTER_RANGE` like `increment`; then nothing changes.
   */
  merge(other: WindowedCounter): void {
    const same = this.#sameClass(other)
    if (other.windowMs !== this.windowMs || other.grainMs !== this.grainMs) {
      throw this.#mismatch(`a window of ${other.windowMs} ms in ${other.grainMs} ms`)
    }
    if (same.#newest === Number.NEGATIVE_INFINITY) return
    const newest = Math.max(this.#newest, same.#newest)
    const sums = Float64Array.from(this.#buckets, (_, n) => this.#kept(newest - n) + same.#kept(newest - n))
    const beyond = sums.find((sum) => Math.abs(sum) > this.#most)
    if (beyond !== undefined) throw this.#beyondRange(beyond)
    this.#newest = newest
    for (const [n, sum] of sums.entries()) this.#buckets[this.#slotOf(newest - n)] = sum
  }

  /** Serializes the counter: 32 bytes and 8 bytes for each bucket. */
  toBytes(): Uint8Array {
    const { windowMs, grainMs } = this
    return windowBytes({ windowMs, grainMs, newest: this.#newest, buckets: this.#buckets })
  }

  #advance(bucket: number): void {
    if (bucket <= this.#newest) return
    const first = Math.max(this.#newest + 1, bucket - this.#buckets.length + 1)
    for (let next = first; next <= bucket; next++) this.#buckets[this.#slotOf(next)] = 0
    this.#newest = bucket
  }

  /** Returns the amount of a bucket; 0 if it is not kept. */
  #kept(bucket: number): number {
    const isKept = bucket <= this.#newest && bucket > this.#newest - this.#buckets.length
    return isKept ? this.#buckets[this.#slotOf(bucket)] : 0
  }

  #slotOf(bucket: number): number {
    const { length } = this.#buckets
    const rest = bucket % length
    return rest < 0 ? rest + length : rest
  }

  #bucketOf(call: string, now: number): number {
    const bucket = Math.floor(now / this.grainMs)
    if (typeof now === 'number' && Number.isSafeInteger(bucket) && Math.abs(now) <= Number.MAX_SAFE_INTEGER)
      return bucket
    throw badOption(`${call}: now`, now, 'a time in ms')
  }

  #beyondRange(delta: number): SluiceError {
    const expected = `a delta that keeps its bucket within ±${this.#most}`
    return new SluiceError('SLUICE_COUNTER_RANGE', `delta: expected ${expected}, received ${shown(delta)}`)
  }

  /** Returns `other`, or the same counts if another copy of the package created it. */
  #sameClass(other: WindowedCounter): WindowedCounter {
    if (#newest in Object(other)) return other
    try {
      return WindowedCounter.fromBytes(other.toBytes())
    } catch {
      throw this.#mismatch(shown(other))
    }
  }

  #mismatch(received: string): SluiceError {
    const expected = `a WindowedCounter of ${this.windowMs} ms in ${this.grainMs} ms`
    return new SluiceError('SLUICE_BAD_MESSAGE', `merge: expected ${expected}, received ${received}`)
  }
}
