import type { CounterReading, Counters } from '@sluice/fleet/backend'
import type { Clock } from '@sluice/limiter-core'
import { badOption, clockOf, type Duration, optionsOf, parseDuration } from '@sluice/limiter-core/backend'
import { PART } from '../counter-id.ts'
import type { ListPage } from '../list-page.ts'
import type { CounterSplit } from './counter-split.ts'
import { escapedId, unescapedId } from './escaped-id.ts'
import { exactSum } from './exact-sum.ts'
import { SplitCounters } from './split-counters.ts'
import { readingOf } from './split-reading.ts'

export interface WindowedCountersOptions {
  /** Length of the window. Default: 1 hour. */
  readonly window?: Duration | undefined
  /**
   * Length of a bucket; it divides the window into 1 to 1,000 buckets. Default: 1/60 of the window, rounded down to
   * whole ms, at least 1 ms.
   */
  readonly grain?: Duration | undefined
  /** Its wall time selects the bucket, so that all processes use the same buckets. */
  readonly clock?: Partial<Clock> | undefined
}

/** `Counters` whose values cover the last window. */
export interface WindowedCounters extends Counters {
  /**
   * Deletes buckets that ended before the window, for all ids, and returns their number. One more grain is kept, in
   * which a process with a slower clock may still count. Each deletion is one call. Let one process call this about
   * once per grain; buckets outside the window are never part of a value, but stay stored until then.
   */
  sweep(): Promise<number>
}

const MAX_BUCKETS = 1_000
const DEFAULT_BUCKETS = 60
const START_DIGITS = 16
const SWEEP_LIST = 1_000
/** Versions reserved for each ms of a bucket, so that the versions of the next bucket are higher. */
const VERSIONS_PER_MS = 1_024

/**
 * Creates counters whose values are sums over the last window, kept in buckets of one grain. Each bucket of an id is a
 * separate counter in `counters`, with the id `<window and grain><start in ms, 16 digits>:<id>`, so it is as exact and
 * as durable as those counters. A value covers the current bucket and the buckets before it, so it reaches back between
 * one window less one grain and one window. Each call reads as many counters per id as the window has grains;
 * `readMany` and `aggregate` send one call per bucket.
 *
 * A repeated token counts nothing while the bucket in which it counted is in the window; after that, and within 24
 * hours, it is rejected with `SLUICE_TOKEN_REUSED`. A version is that of the newest bucket. A bucket has the range of a
 * value. `close` closes `counters`. Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function windowedCounters(counters: Counters, options: WindowedCountersOptions = {}): WindowedCounters {
  const { window = '1h', grain, clock } = optionsOf('windowedCounters', options, ['window', 'grain', 'clock'])
  const windowMs = parseDuration(window, 'windowedCounters: window')
  const whole = Math.max(1, Math.floor(windowMs / DEFAULT_BUCKETS))
  const grainMs = grain === undefined ? whole : parseDuration(grain, 'windowedCounters: grain')
  const buckets = windowMs / grainMs
  if (!Number.isInteger(buckets) || buckets > MAX_BUCKETS) {
    throw badOption(
      'windowedCounters: grain',
      grain ?? grainMs,
      `a duration that divides window into 1 to ${MAX_BUCKETS} buckets`,
    )
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
      // buckets are listed in the order of their start, so the next page has no old buckets
      if (old.length < SWEEP_LIST) return deleted
    }
  }
}

class Buckets implements CounterSplit {
  readonly writesMany = false
  /** Common prefix of the ids of all buckets of this window and grain. */
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
    const escaped = escapedId(id)
    return this.#begins().map((begin) => begin + escaped)
  }

  partFor(): number {
    return this.#buckets - 1
  }

  /** Returns all buckets, the newest first. */
  partsForToken(): readonly number[] {
    return Array.from({ length: this.#buckets }, (_, n) => this.#buckets - 1 - n)
  }

  versionOf(parts: readonly CounterReading[]): number {
    const versions = parts.map(({ id, version }) => (version === 0 ? 0 : this.#startOf(id) * VERSIONS_PER_MS + version))
    return Math.max(0, ...versions)
  }

  async list(prefix: string, { after, limit }: ListPage): Promise<readonly CounterReading[]> {
    const [begin, behind] = [escapedId(prefix), after === undefined ? undefined : escapedId(after)]
    // the first ids of the merged list are among the first ids of each bucket
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
      .map(({ escaped, parts }) => readingOf(unescapedId(escaped), parts, this))
  }

  async sum(prefix: string, kind: 'sum'): Promise<number> {
    const escaped = escapedId(prefix)
    return exactSum(await Promise.all(this.#begins().map((begin) => this.#counters.aggregate(begin + escaped, kind))))
  }

  isOld(id: string): boolean {
    return this.#startOf(id) < this.#newest() - this.#buckets * this.#grainMs
  }

  #startOf(id: string): number {
    return Number(id.slice(this.kind.length, this.kind.length + START_DIGITS))
  }

  /** Returns the start of the current bucket, in epoch ms. */
  #newest(): number {
    return Math.floor(this.#clock.wall() / this.#grainMs) * this.#grainMs
  }

  /** Returns the id prefix of each bucket in the window, the oldest first. */
  #begins(): readonly string[] {
    const first = this.#newest() - (this.#buckets - 1) * this.#grainMs
    return Array.from({ length: this.#buckets }, (_, n) => {
      const start = Math.max(0, first + n * this.#grainMs)
      return `${this.kind}${String(start).padStart(START_DIGITS, '0')}:`
    })
  }
}
