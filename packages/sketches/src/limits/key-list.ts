import type { MaybePromise } from '@sluice/limiter-core'
import type { ListKey } from './key-list-options.ts'

/** Questions since the list was made, by how they were answered. */
export interface KeyListStats {
  readonly asked: number
  /** The filter said no, at once. */
  readonly passedByFilter: number
  /** The filter could not say no: `asked` without `passedByFilter`. */
  readonly positives: number
  /** Positives of which `exact` said no. */
  readonly falsePositives: number
  /** Positives that were answered from memory. */
  readonly remembered: number
  /** Positives that the rule answered, since `exact` did not. */
  readonly ruled: number
}

/**
 * A list of millions of keys in 1.25 bytes each, of which it says who is on it: a blocked Bloom filter in front of the list
 * itself. Who is not on it is told so at once and without I/O, but for `errorRate` of them; the others wait for
 * `exact`. A key that was added is never taken for one that is not on the list before `exact` says so.
 */
export interface KeyList {
  readonly name: string
  /** Puts a key into the filter; whoever adds it to the list where `exact` looks does that first. Throws `SLUICE_BAD_KEY`. */
  add(key: ListKey): void
  /** Adds all of them, and answers how many they were. Throws or rejects as `keys` does, and with `SLUICE_BAD_KEY`. */
  addAll(keys: Iterable<ListKey>): number
  addAll(keys: AsyncIterable<ListKey>): Promise<number>
  /**
   * Whether a key is on the list. False at once where the filter rules it out, and for what is no key. Never throws and
   * never rejects; waits `deadlineMs` at most.
   */
  has(key: ListKey): MaybePromise<boolean>
  readonly stats: KeyListStats
  /** How many different keys the filter holds, estimated. Those that were taken off the list are still in it. */
  readonly size: number
  /** The part of all others about which `exact` is asked now. More than was promised once it holds more than `capacity`. */
  readonly falsePositiveRate: number
  /** Bytes of the filter. */
  readonly bytes: number
  /** The filter, for `load` and `merge` of lists of the same seed. */
  toBytes(): Uint8Array
  /**
   * Puts the filter of `toBytes` in the place of this one, of whatever size it is; a key that it lacks is on the list no
   * more. Throws `SLUICE_BAD_BYTES` and `SLUICE_SKETCH_MISMATCH`, and leaves the list as it is.
   */
  load(bytes: Uint8Array): void
  /** Adds all keys of another list of the same `capacity`, `errorRate` and seed. Throws like `load`. */
  merge(bytes: Uint8Array): void
  /** Forgets what it remembers of answers, as after keys were taken off the list. */
  forgetAnswers(): void
  /** Whoever waits is answered by the rule; ends its timer. */
  close(): void
}
