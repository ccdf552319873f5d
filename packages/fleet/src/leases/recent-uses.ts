import { type CountedKey, targetId } from '@sluice/limiter-core/backend'
import { createKeyedHash, type KeyedHash } from '@sluice/limiter-core/keyed-hash'

/** Maximum number of keys; each takes 12 bytes. */
const PLACES = 2 ** 14

/**
 * Times at which keys were last used. The hash of a key determines its only position, and a later key with the same
 * position replaces it. Two such keys are confused with a probability of 2⁻³².
 */
export class RecentUses {
  readonly #hash: KeyedHash = createKeyedHash()
  readonly #marks: Int32Array = new Int32Array(PLACES)
  readonly #times: Float64Array = new Float64Array(PLACES).fill(Number.NEGATIVE_INFINITY)

  /** Records a use of the key. Returns whether the previous use was less than `withinMs` ago (or in the future). */
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
