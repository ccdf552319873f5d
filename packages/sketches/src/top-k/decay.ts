import { scatterBits } from '@sluice/limiter-core/keyed-hash'

/** Events with a probability of 2^-33 or less are treated as impossible, without drawing a random number. */
const NEVER_BITS = 33
/** An amount is below 2^53. */
const AMOUNT_BITS = 53
const TABLE = 256

/** Whether `base` may be one: nearer to 1 a single heavy amount would draw too many times, 40,000 at 0.999. */
export function isDecay(base: unknown): base is number {
  return typeof base === 'number' && base > 0 && (base <= 0.999 || base === 1)
}

/**
 * The probability that one unit of another key decrements a count: `base` to the power of the count, so that small
 * counts disappear and large ones stay. Drawn from a generator with one word of state, whose sequence depends only on
 * that state.
 */
export class Decay {
  readonly base: number
  /** State of the generator, a uint32. */
  state: number
  readonly #chances: Float64Array
  /** From this count on, one unit never decrements it; from the next one on, no amount does. */
  readonly #never: number
  readonly #neverAny: number

  constructor(base: number, state: number) {
    this.base = base
    this.state = state
    this.#chances = Float64Array.from({ length: TABLE }, (_, count) => base ** count)
    this.#never = countOfChance(base, NEVER_BITS)
    this.#neverAny = countOfChance(base, NEVER_BITS + AMOUNT_BITS)
  }

  /** Whether one unit hits `count`. */
  hits(count: number): boolean {
    if (this.base === 1) return true
    return count < this.#never && this.#draw() < this.#chance(count)
  }

  /** Returns how many units arrive until one decrements the count: 1 or more; Infinity if none ever does. */
  unitsToHit(count: number): number {
    if (this.base === 1) return 1
    if (count >= this.#neverAny) return Number.POSITIVE_INFINITY
    // the inverse of the geometric distribution
    return 1 + Math.floor(Math.log(this.#draw()) / Math.log1p(-this.#chance(count)))
  }

  #chance(count: number): number {
    return count < TABLE ? this.#chances[count] : this.base ** count
  }

  /** Between 0 and 1, never one of them. */
  #draw(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0
    return ((scatterBits(this.state) >>> 0) + 0.5) / 0x1_0000_0000
  }
}

/** The count that is hit with a chance of 2^-bits. */
function countOfChance(base: number, bits: number): number {
  return base === 1 ? Number.POSITIVE_INFINITY : Math.ceil((bits * Math.LN2) / -Math.log(base))
}
