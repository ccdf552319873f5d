import { SpaceSaving } from '@sluice/sketches'
import { RECENT_STEP_MS } from './recent-digest.ts'

/** Keys that a list of top keys has. */
export const TOP_KEYS = 10

const CAPACITY = 64

/** Who it is, the same text in all processes; how it is shown; at most `count`, at least `count - error`. */
export type TopKey = readonly [id: string, key: string, count: number, error: number]

/** Those that came most, and how much may at most have come of any other key. */
export interface TopKeyList {
  readonly floor: number
  readonly keys: readonly TopKey[]
}

/** How a key leaves its process. */
export interface KeyNames {
  /** Shown. */
  shown(key: string): string
  /** The same for the same key in all processes. */
  id(key: string): string
}

/** The keys that came most in the last 5 to 10 minutes: two sketches of 64 keys. */
export class TopKeys {
  #step = Number.NEGATIVE_INFINITY
  #current = new SpaceSaving({ capacity: CAPACITY })
  #previous = new SpaceSaving({ capacity: CAPACITY })

  add(key: string): void {
    this.#current.add(key)
  }

  /** Turns to a new step where one began. */
  advance(at: number): void {
    const step = Math.floor(at / RECENT_STEP_MS)
    if (step <= this.#step) return
    // the first reading of the time ends nothing
    if (this.#step !== Number.NEGATIVE_INFINITY) this.#turn(step === this.#step + 1)
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

  #turn(next: boolean): void {
    const spare = this.#previous
    this.#previous = this.#current
    this.#current = spare
    spare.clear()
    if (!next) this.#previous.clear()
  }
}

/**
 * Lists of several processes as one. A key that a list lacks may have come there as often as its floor says, which is
 * added to its count and its error (Agarwal et al. 2012).
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

/** Keys that cannot be told apart count as one. */
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
