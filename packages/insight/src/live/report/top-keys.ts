import { SpaceSaving } from '@sluice/sketches'
import { RECENT_STEP_MS } from './recent-digest.ts'

/** Number of keys in a list of top keys. */
export const TOP_KEYS = 10

const CAPACITY = 64

/**
 * Id (identical in all processes), displayed key, upper bound of the count, and its error: the true count is between
 * `count - error` and `count`.
 */
export type TopKey = readonly [id: string, key: string, count: number, error: number]

/** The most frequent keys. `floor` is the highest possible count of a key that is not in the list. */
export interface TopKeyList {
  readonly floor: number
  readonly keys: readonly TopKey[]
}

/** Names under which a key leaves its process. */
export interface KeyNames {
  /** Returns the key as it is displayed. */
  shown(key: string): string
  /** Returns the id of the key, identical in all processes. */
  id(key: string): string
}

/** The most frequent keys of the last 5 to 10 minutes, in two sketches of 64 keys. */
export class TopKeys {
  #step = Number.NEGATIVE_INFINITY
  #current = new SpaceSaving({ capacity: CAPACITY })
  #previous = new SpaceSaving({ capacity: CAPACITY })

  add(key: string): void {
    this.#current.add(key)
  }

  /** Starts a new step if the current one has ended. */
  advance(at: number): void {
    const step = Math.floor(at / RECENT_STEP_MS)
    if (step <= this.#step) return
    // the first call has no previous step to rotate
    if (this.#step !== Number.NEGATIVE_INFINITY) this.#rotate(step === this.#step + 1)
    this.#step = step
  }

  *keys(): Iterable<string> {
    for (const sketch of [this.#current, this.#previous]) for (const { key } of sketch.top(CAPACITY)) yield key
  }

  list(names: KeyNames): TopKeyList {
    const both = new SpaceSaving({ capacity: CAPACITY })
    both.merge(this.#previous)
    both.merge(this.#current)
    const top = both.top(TOP_KEYS + 1)
    const floor = top.length > TOP_KEYS ? top[TOP_KEYS].count : both.floor
    const keys = top
      .slice(0, TOP_KEYS)
      .map(({ key, count, error }) => [names.id(key), names.shown(key), count, error] as const)
    return { floor, keys }
  }

  #rotate(next: boolean): void {
    const spare = this.#previous
    this.#previous = this.#current
    this.#current = spare
    spare.clear()
    if (!next) this.#previous.clear()
  }
}

/**
 * Merges the lists of several processes. A key missing from a list may have occurred there up to `floor` times, which
 * is added to its count and its error (Agarwal et al. 2012).
 */
export function mergedTop(lists: readonly TopKeyList[]): TopKey[] {
  const floor = lists.reduce((sum, list) => sum + list.floor, 0)
  const merged = new Map<string, TopKey>()
  for (const list of lists) {
    for (const [id, key, count, error] of distinct(list)) {
      const [, , before, errorBefore] = merged.get(id) ?? [id, key, floor, floor]
      merged.set(id, [id, key, before + count - list.floor, errorBefore + error - list.floor])
    }
  }
  return [...merged.values()].sort(byCount).slice(0, TOP_KEYS)
}

/** Combines keys with the same id, such as masked keys without a shared secret. */
function distinct({ keys }: TopKeyList): Iterable<TopKey> {
  const known = new Map<string, TopKey>()
  for (const [id, key, count, error] of keys) {
    const [, , before, errorBefore] = known.get(id) ?? [id, key, 0, 0]
    known.set(id, [id, key, before + count, errorBefore + error])
  }
  return known.values()
}

function byCount(a: TopKey, b: TopKey): number {
  return b[2] - a[2] || a[3] - b[3] || (a[1] < b[1] ? -1 : 1)
}
