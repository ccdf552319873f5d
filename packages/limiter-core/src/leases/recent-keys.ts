import { createKeyedHash, type KeyedHash } from '@sluice/keyed-hash'
import { targetId } from '../backend/target-id.ts'
import type { CountedKey } from '../contracts.ts'

/** Keys that are remembered at most, in 12 bytes each. */
const PLACES = 2 ** 14

/**
 * When keys were last requested. Each key has one position, which the next key with the same position takes over. One
 * in 2³² of two such keys is mistaken for the other.
 */
export class RecentKeys {
  readonly #hash: KeyedHash = createKeyedHash()
  readonly #marks: Int32Array = new Int32Array(PLACES)
  readonly #times: Float64Array = new Float64Array(PLACES).fill(Number.NEGATIVE_INFINITY)

  /** Whether the key was noted less than `withinMs` ago, or later than now. Notes it. */
  note(target: CountedKey, withinMs: number, now: number): boolean {
    this.#hash.text(targetId(target))
    const { low, high } = this.#hash
    const place = low & (PLACES - 1)
    const isRecent = this.#marks[place] === high && now - this.#times[place] < withinMs
    this.#marks[place] = high
    this.#times[place] = now
    return isRecent
  }
}
