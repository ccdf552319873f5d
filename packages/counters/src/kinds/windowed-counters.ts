import type { Clock, CounterReading, Counters } from '@sluice/limiter-core'
import { badOption, clockOf, type Duration, optionsOf, parseDuration } from '@sluice/limiter-core/backend'
import { PART } from '../counter-id.ts'
import type { ListPage } from '../list-page.ts'
import type { CounterSplit } from './counter-split.ts'
import { exactSum } from './exact-sum.ts'
import { escapedText, textOf } from './part-text.ts'
import { SplitCounters } from './split-counters.ts'
import { readingOf } from './split-reading.ts'

export interface WindowedCountersOptions {
  /** How far back a value goes. Default: 1 hour. */
  readonly window?: Duration | undefined
  /** A whole part of the window, 1/1,000 of it or more. Default: 1/60 of it, rounded down to whole ms. */
  readonly grain?: Duration | undefined
  /** Its wall time says which bucket counts, so that all processes have the same ones. */
  readonly clock?: Partial<Clock> | undefined
}

/** `Counters` whose values are those of the last window. */
export interface WindowedCounters extends Counters {
  /**
   * Deletes the buckets of all ids that have left the window, and one grain more, which a slower clock may still count
   * in. Answers how many counters it deleted, of which each is one call. For one process to do, about once a grain:
   * until then old buckets stay where they are, and are in no value.
   */
  sweep(): Promise<number>
}

const MOST_BUCKETS = 1_000
const BUCKETS = 60
const START_DIGITS = 16
const SWEEP_LIST = 1_000
/** Versions that a bucket has for each ms of it, so that those of the next one are higher. */
const VERSIONS_PER_MS = 1_024

/**
 * Counters whose values are sums of the last window, in buckets of a grain. Each bucket of an id is a counter of its own
 * in `counters`, `<start, ms, 16 digits>:<id>` behind what says which window it is, so they are as exact and as durable
 * as those. A value holds the bucket of now and those before it that make a window with it: it goes back between a
 * window less a grain and a window. Each call reads as many counters of an id as the window has grains; a list and
 * `aggregate` take one of them for each bucket.
 *
 * A token that comes again counts nothing, and is known while the bucket that it counted in is in the window; later, and
 * within 24 hours, it is refused by `SLUICE_TOKEN_REUSED`. A version is that of the newest bucket. A bucket has the range
 * of a value. `close` closes `counters`. Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function windowedCounters(counters: Counters, options: WindowedCountersOptions = {}): WindowedCounters {
  const { window = '1h', grain, clock } = optionsOf('windowedCounters', options, ['window', 'grain', 'clock'])
  const windowMs = parseDuration(window, 'windowedCounters: window')
  const whole = Math.max(1, Math.floor(windowMs / BUCKETS))
  const grainMs = grain === undefined ? whole : parseDuration(grain, 'windowedCounters: grain')
  const buckets = windowMs / grainMs
  if (!Number.isInteger(buckets) || buckets > MOST_BUCKETS) {
    throw badOption('windowedCounters: grain', grain ?? grainMs, `1/1 to 1/${MOST_BUCKETS} of window`)
  }
  return new SweptCounters(counters, new Buckets(counters, { windowMs, grainMs, clock: clockOf(clock) }))
}

class SweptCounters extends SplitCounters implements WindowedCounters {
  readonly #buckets: Buckets

  constructor(counters: Counters, buckets: Buckets) {
    super(counters, buckets)
    this.#buckets = buckets
  }

  async sweep(): Promise<number> {
    let deleted = 0
    for (;;) {
      const page = await this.counters.readMany(this.#buckets.kind, { limit: SWEEP_LIST })
      const old = page.filter(({ id }) => this.#buckets.isOld(id))
      await Promise.all(old.map(({ id }) => this.counters.delete(id)))
      deleted += old.length
      // in the order of their times
      if (old.length < SWEEP_LIST) return deleted
    }
  }
}

class Buckets implements CounterSplit {
  readonly writesMany = false
  /** What the ids of all buckets of this window and grain begin with. */
  readonly kind: string
  readonly #counters: Counters
  readonly #grainMs: number
  readonly #buckets: number
  readonly #clock: Clock

  constructor(
    counters: Counters,
    { windowMs, grainMs, clock }: { readonly windowMs: number; readonly grainMs: number; readonly clock: Clock },
  ) {
    this.#counters = counters
    this.#grainMs = grainMs
    this.#buckets = windowMs / grainMs
    this.#clock = clock
    this.kind = `${PART}w${windowMs}/${grainMs}:`
  }

  partsOf(id: string): readonly string[] {
    const escaped = escapedText(id)
    return this.#begins().map((begin) => begin + escaped)
  }

  partFor(): number {
    return this.#buckets - 1
  }

  /** From the newest one. */
  partsForToken(): readonly number[] {
    return Array.from({ length: this.#buckets }, (_, n) => this.#buckets - 1 - n)
  }

  versionOf(parts: readonly CounterReading[]): number {
    const versions = parts.map(({ id, version }) => (version === 0 ? 0 : this.#startOf(id) * VERSIONS_PER_MS + version))
    return Math.max(0, ...versions)
  }

  async list(prefix: string, { after, limit }: ListPage): Promise<readonly CounterReading[]> {
    const [begin, behind] = [escapedText(prefix), after === undefined ? undefined : escapedText(after)]
    // the first ids of all buckets together are among the first of each
    const lists = this.#begins().map((bucket) => {
      const from = behind === undefined ? undefined : bucket + behind
      return this.#counters.readMany(bucket + begin, { after: from, limit })
    })
    const found = new Map<string, CounterReading[]>()
    for (const part of (await Promise.all(lists)).flat()) {
      const escaped = part.id.slice(this.kind.length + START_DIGITS + 1)
      found.set(escaped, [...(found.get(escaped) ?? []), part])
    }
    return [...found]
      .map(([escaped, parts]) => ({ bytes: Buffer.from(escaped), escaped, parts }))
      .sort((one, other) => Buffer.compare(one.bytes, other.bytes))
      .slice(0, limit)
      .map(({ escaped, parts }) => readingOf(textOf(escaped), parts, this))
  }

  async sum(prefix: string, kind: 'sum'): Promise<number> {
    const escaped = escapedText(prefix)
    return exactSum(await Promise.all(this.#begins().map((begin) => this.#counters.aggregate(begin + escaped, kind))))
  }

  isOld(id: string): boolean {
    return this.#startOf(id) < this.#newest() - this.#buckets * this.#grainMs
  }

  #startOf(id: string): number {
    return Number(id.slice(this.kind.length, this.kind.length + START_DIGITS))
  }

  /** Start of the bucket of now. */
  #newest(): number {
    return Math.floor(this.#clock.wall() / this.#grainMs) * this.#grainMs
  }

  /** What the ids of each bucket of the window begin with, the oldest first. */
  #begins(): readonly string[] {
    const first = this.#newest() - (this.#buckets - 1) * this.#grainMs
    return Array.from({ length: this.#buckets }, (_, n) => {
      const start = Math.max(0, first + n * this.#grainMs)
      return `${this.kind}${String(start).padStart(START_DIGITS, '0')}:`
    })
  }
}
