/** Numbers that look random and are the same for the same seed, on every machine. */
export interface SeededRandom {
  /** Returns a number from 0 to below 1, with 32 random bits. */
  next(): number
  /** A whole number from 0 to `below`, `below` left out; `below` from 1 to 2^32. */
  whole(below: number): number
  /** Returns one of `choices`, all equally likely; undefined if there are none. */
  pick<T>(choices: readonly T[]): T
}

/** The same numbers for the same seed. Any number is a seed; it counts modulo 2^32. */
export function seededRandom(seed: number): SeededRandom {
  // mulberry32 (Tommy Ettinger, public domain): one word of state, passes gjrand, enough to draw traffic with
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), state | 1)
    const word = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61))
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    whole: (below) => Math.floor(next() * below),
    pick: (choices) => choices[Math.floor(next() * choices.length)],
  }
}

/** The first seed of a run: `SLUICE_SEED` in the environment, else 1. */
export function baseSeed(): number {
  const given = process.env.SLUICE_SEED
  return given === undefined ? 1 : Number(given)
}

/**
 * `runs` times `SLUICE_RUNS` of the environment, at least 1: 10 there searches ten times as long, 0.1 is a quick look.
 * Throws `RangeError` if `SLUICE_RUNS` is not a number above 0.
 */
export function numberOfRuns(runs: number): number {
  const given = process.env.SLUICE_RUNS
  if (given === undefined) return runs
  const factor = Number(given)
  if (!(factor > 0 && factor < Infinity)) throw new RangeError(`SLUICE_RUNS must be a number above 0: ${given}`)
  return Math.ceil(runs * factor)
}

/**
 * Runs `body` with `numberOfRuns(runs)` consecutive seeds, starting at `baseSeed`. Errors contain the seed in their
 * message: `SLUICE_SEED=<seed>` starts there the next time.
 */
export async function eachSeed(
  runs: number,
  body: (random: SeededRandom, seed: number) => void | Promise<void>,
): Promise<void> {
  const first = baseSeed()
  const last = first + numberOfRuns(runs) - 1
  for (let seed = first; seed <= last; seed++) {
    try {
      await body(seededRandom(seed), seed)
    } catch (error) {
      throw new Error(`SLUICE_SEED=${seed}: ${error instanceof Error ? error.message : error}`, { cause: error })
    }
  }
}
