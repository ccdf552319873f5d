import { badOption, type Duration, optionsOf, parseMs, SluiceError, shown } from '@sluice/limiter-core/backend'
import { checkDelta } from '../counter-delta.ts'
import { readWindowBytes, windowBytes } from './window-bytes.ts'

export interface WindowedCounterOptions {
  /** How far back a sum goes. Default: 1 minute. */
  readonly windowMs?: Duration | undefined
  /** A whole part of the window, 1/10,000 of it or more. Default: 1/60 of it, rounded down to whole ms. */
  readonly grainMs?: Duration | undefined
}

const MOST_BUCKETS = 10_000
const BUCKETS = 60

/**
 * What was counted in the last window, in buckets of a grain: a ring of numbers, 8 bytes each, in which the newest bucket
 * takes the place of the oldest. It reads no clock: `now` is handed in, in ms of any one time, and is trusted.
 *
 * A sum holds the bucket of `now` and those before it that make a window with it, so it goes back between a window less a
 * grain and a window. The newest `now` of a write says which buckets there are: what is older is dropped.
 */
export class WindowedCounter {
  readonly windowMs: number
  readonly grainMs: number
  /** Of one bucket, so that no sum of them leaves ±(2^53 - 1). */
  readonly #most: number
  readonly #buckets: Float64Array
  /** Number of the newest bucket since time 0; -Infinity before the first write. */
  #newest = Number.NEGATIVE_INFINITY

  /** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. */
  constructor(options: WindowedCounterOptions = {}) {
    const { windowMs = 60_000, grainMs } = optionsOf('WindowedCounter', options, ['windowMs', 'grainMs'])
    this.windowMs = parseMs(windowMs, 'WindowedCounter: windowMs')
    this.grainMs = parseMs(grainMs ?? Math.max(1, Math.floor(this.windowMs / BUCKETS)), 'WindowedCounter: grainMs')
    const buckets = this.windowMs / this.grainMs
    if (!Number.isSafeInteger(this.grainMs) || !Number.isInteger(buckets) || buckets < 1 || buckets > MOST_BUCKETS) {
      throw badOption(
        'WindowedCounter: grainMs',
        grainMs ?? this.grainMs,
        `whole ms, 1/1 to 1/${MOST_BUCKETS} of windowMs`,
      )
    }
    this.#buckets = new Float64Array(buckets)
    this.#most = Math.floor(Number.MAX_SAFE_INTEGER / buckets)
  }

  /** The counter that `toBytes` wrote. Throws `SLUICE_BAD_MESSAGE` for any other bytes. */
  static fromBytes(bytes: Uint8Array): WindowedCounter {
    const { windowMs, grainMs, newest, buckets } = readWindowBytes(bytes, MOST_BUCKETS)
    const counter = new WindowedCounter({ windowMs, grainMs })
    if (buckets.some((amount) => Math.abs(amount) > counter.#most)) {
      throw new SluiceError(
        'SLUICE_BAD_MESSAGE',
        'bytes: expected bytes of toBytes(), received a bucket beyond its range',
      )
    }
    counter.#buckets.set(buckets)
    counter.#newest = newest
    return counter
  }

  /**
   * Counts `delta`, a whole number, at `now`; false where that is older than the window, and nothing is counted. Throws
   * `SLUICE_BAD_DELTA`, `SLUICE_BAD_OPTION` for a `now` that is no time, and `SLUICE_COUNTER_RANGE` where its bucket would
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

  /** What was counted in the window that ends with the bucket of `now`. Throws `SLUICE_BAD_OPTION` for a `now` that is no time. */
  sum(now: number): number {
    const last = this.#bucketOf('sum', now)
    const first = Math.max(last, this.#newest) - this.#buckets.length + 1
    let sum = 0
    for (let bucket = first; bucket <= Math.min(last, this.#newest); bucket++)
      sum += this.#buckets[this.#slotOf(bucket)]
    return sum
  }

  /**
   * Adds what the other counted, bucket by bucket; what is older than the window of both is dropped. Twice the same is
   * counted twice. Throws `SLUICE_BAD_MESSAGE` where it has another window or grain, and `SLUICE_COUNTER_RANGE` like
   * `increment`; then nothing has changed.
   */
  merge(other: WindowedCounter): void {
    if (!(other instanceof WindowedCounter)) throw this.#mismatch(shown(other))
    if (other.windowMs !== this.windowMs || other.grainMs !== this.grainMs) {
      throw this.#mismatch(`a window of ${other.windowMs} ms in ${other.grainMs} ms`)
    }
    if (other.#newest === Number.NEGATIVE_INFINITY) return
    const newest = Math.max(this.#newest, other.#newest)
    const sums = Float64Array.from(this.#buckets, (_, n) => this.#kept(newest - n) + other.#kept(newest - n))
    const beyond = sums.find((sum) => Math.abs(sum) > this.#most)
    if (beyond !== undefined) throw this.#beyondRange(beyond)
    this.#newest = newest
    for (const [n, sum] of sums.entries()) this.#buckets[this.#slotOf(newest - n)] = sum
  }

  /** 32 bytes and 8 for each bucket. */
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

  /** 0 for a bucket that is not there, or not any more. */
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
    const expected = `a bucket that stays within ±${this.#most}`
    return new SluiceError('SLUICE_COUNTER_RANGE', `delta: expected ${expected}, received ${shown(delta)}`)
  }

  #mismatch(got: string): SluiceError {
    const expected = `a WindowedCounter of ${this.windowMs} ms in ${this.grainMs} ms`
    return new SluiceError('SLUICE_BAD_MESSAGE', `merge: expected ${expected}, received ${got}`)
  }
}
