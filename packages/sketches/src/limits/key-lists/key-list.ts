import type { MaybePromise } from '@sluice/limiter-core'
import type { ListKey } from './key-list-options.ts'

/** Questions since the list was made, by how they were answered. */
export interface KeyListStats {
  readonly asked: number
  /** The filter excluded the key, synchronously. */
  readonly passedByFilter: number
  /** The filter could not exclude the key: `asked` minus `passedByFilter`. */
  readonly positives: number
  /** Positives for which `exact` returned false. */
  readonly falsePositives: number
  /** Positives that were answered from memory. */
  readonly remembered: number
  /** Positives that the rule answered, since `exact` did not. */
  readonly ruled: number
}

/**
 * A list of millions of keys in about 1.25 bytes each: a blocked Bloom filter in front of the list itself. A key that
 * is not on the list is answered synchronously and without I/O, except for `errorRate` of them; the others wait for
 * `exact`. A key that was added is never reported as absent unless `exact` says so.
 */
export interface KeyList {
  readonly name: string
  /**
   * Adds a key to the filter. Add a key here before adding it to the list that `exact` reads. Throws
   * `SLUICE_BAD_KEY`.
   */
  add(key: ListKey): void
  /** Adds all keys and returns their number. Throws or rejects with the errors of `keys`, and with `SLUICE_BAD_KEY`. */
  addAll(keys: Iterable<ListKey>): number
  addAll(keys: AsyncIterable<ListKey>): Promise<number>
  /**
   * Returns whether a key is on the list. False synchronously if the filter excludes it, and for invalid keys. Never
   * throws and never rejects; waits for at most `deadlineMs`.
   */
  has(key: ListKey): MaybePromise<boolean>
  readonly stats: KeyListStats
  /** Estimated number of different keys in the filter, including keys that were removed from the list. */
  readonly size: number
  /**
   * Current fraction of other keys for which `exact` is called. Exceeds `errorRate` if the filter contains more than
   * `capacity` keys.
   */
  readonly falsePositiveRate: number
  /** Bytes of the filter. */
  readonly bytes: number
  /** The filter, for `load` and `merge` of lists of the same seed. */
  toBytes(): Uint8Array
  /**
   * Replaces the filter with the result of `toBytes`, of any size; keys that it lacks are no longer on the list.
   * Throws `SLUICE_BAD_BYTES` and `SLUICE_SKETCH_MISMATCH`, and then changes nothing.
   */
  load(bytes: Uint8Array): void
  /** Adds all keys of another list of the same `capacity`, `errorRate` and seed. Throws like `load`. */
  merge(bytes: Uint8Array): void
  /** Clears the cached results of `exact`, for example after keys were removed from the list. */
  forgetAnswers(): void
  /** Answers pending calls by the error rule and stops the timer. */
  close(): void
}
