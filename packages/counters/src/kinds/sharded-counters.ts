import type { CounterReading, Counters } from '@sluice/fleet/backend'
import { integerFrom, optionalFunction, optionsOf } from '@sluice/limiter-core/backend'
import { PART } from '../counter-id.ts'
import type { ListPage } from '../list-page.ts'
import type { CounterSplit } from './counter-split.ts'
import { escapedId, unescapedId } from './escaped-id.ts'
import { SplitCounters } from './split-counters.ts'
import { readingOf } from './split-reading.ts'

export interface ShardedCountersOptions {
  /** Number of shards per counter, 1 to 256. It may be raised later but never lowered. Default: 8. */
  readonly shards?: number | undefined
  /** Returns a number from 0 (inclusive) to 1 (exclusive) that selects a shard. Default: `Math.random`. */
  readonly random?: (() => number) | undefined
}

const MAX_SHARDS = 256
const MAX_PAGE = 10_000
const KIND = `${PART}s`
/** Sorts after every shard of an id. */
const AFTER_SHARDS = '~'

/**
 * Splits each counter into several counters of `counters`, its shards, so that many processes that count one id rarely
 * write the same row. Each write goes to a random shard, or to a shard derived from its token. Reads and receipts read
 * all shards. Ids are strings of 1 to 256 bytes. Ids in `counters` that begin with U+0001 are reserved.
 *
 * An increment with a token is also rejected with `SLUICE_COUNTER_RANGE` if the token's shard alone would leave ±(2^53
 * - 1). After `shards` was raised, a repeated token either returns its first result or is rejected with
 * `SLUICE_TOKEN_REUSED`. A batch of n ids reads n times `shards` counters. `close` closes `counters`. Throws
 * `SLUICE_BAD_OPTION`.
 */
export function shardedCounters(counters: Counters, options: ShardedCountersOptions = {}): Counters {
  const { shards = 8, random = Math.random } = optionsOf('shardedCounters', options, ['shards', 'random'])
  optionalFunction('shardedCounters: random', random)
  const most = integerFrom('shardedCounters: shards', shards, 1, MAX_SHARDS)
  return new SplitCounters(counters, new Shards(counters, most, random))
}

class Shards implements CounterSplit {
  readonly writesMany = true
  readonly #counters: Counters
  readonly #shards: number
  readonly #random: () => number
  readonly #endings: readonly string[]

  constructor(counters: Counters, shards: number, random: () => number) {
    this.#counters = counters
    this.#shards = shards
    this.#random = random
    this.#endings = Array.from({ length: shards }, (_, shard) => PART + shard.toString(16).padStart(2, '0'))
  }

  partsOf(id: string): readonly string[] {
    const begin = beginOf(id)
    return this.#endings.map((ending) => begin + ending)
  }

  /**
   * Returns a random shard, or, if `delta` does not fit there, the shard with the most room. It fits there whenever the
   * sum has room.
   */
  partFor(values: readonly number[], delta: number): number {
    const shard = Math.min(this.#shards - 1, Math.floor(this.#random() * this.#shards))
    if (Number.isSafeInteger(values[shard] + delta)) return shard
    return values.indexOf(delta > 0 ? Math.min(...values) : Math.max(...values))
  }

  partsForToken(hash: string): readonly number[] {
    return [Buffer.from(hash, 'base64url').readUInt32LE(0) % this.#shards]
  }

  versionOf(parts: readonly CounterReading[]): number {
    return parts.reduce((sum, { version }) => sum + version, 0)
  }

  async list(prefix: string, { after, limit }: ListPage): Promise<readonly CounterReading[]> {
    const size = Math.min(MAX_PAGE, (limit + 1) * this.#shards)
    const found = new Map<string, CounterReading[]>()
    let from = after === undefined ? undefined : beginOf(after) + PART + AFTER_SHARDS
    let isLast = false
    // read one id more than requested: all ids before it have all of their shards
    while (!isLast && found.size <= limit) {
      const page = await this.#counters.readMany(beginOf(prefix), { after: from, limit: size })
      for (const part of page) addPart(found, part)
      from = page.at(-1)?.id
      isLast = page.length < size
    }
    return Array.from(found, ([begin, parts]) => readingOf(idOf(begin), parts, this)).slice(0, limit)
  }

  sum(prefix: string, kind: 'sum'): Promise<number> {
    return this.#counters.aggregate(beginOf(prefix), kind)
  }
}

/**
 * Returns the common prefix of the ids of all shards of `id`, which is also a prefix for longer ids that begin with
 * `id`.
 */
function beginOf(id: string): string {
  return KIND + escapedId(id)
}

function idOf(begin: string): string {
  return unescapedId(begin.slice(KIND.length))
}

function addPart(found: Map<string, CounterReading[]>, part: CounterReading): void {
  const begin = part.id.slice(0, part.id.lastIndexOf(PART))
  const parts = found.get(begin)
  if (parts) parts.push(part)
  else found.set(begin, [part])
}
