/**
 * How many keys a HyperLogLog saw, from how many registers hold each rank: Ertl's improved estimator (arXiv:1702.01284,
 * algorithm 6), which needs no table of biases and no other rule for few keys. Redis has it too.
 *
 * `counts[k]`: registers of rank k, 0 to `ranks`; together `registers`. `ranks`: the largest rank that a key can have,
 * which means that or more. 0 where no register is set, `Infinity` where all are at the largest rank.
 */
export function ertlEstimate(counts: Uint32Array, registers: number, ranks: number): number {
  let z = registers * tau((registers - counts[ranks]) / registers)
  for (let rank = ranks - 1; rank >= 1; rank--) z = 0.5 * (z + counts[rank])
  z += registers * sigma(counts[0] / registers)
  return (ALPHA * registers * registers) / z
}

/** 1 / (2 ln 2). */
const ALPHA = 0.7213475204444817

/** x + Σ x^(2^k) 2^(k-1): how much the registers at 0 say. Infinite at 1. */
function sigma(x: number): number {
  if (x === 1) return Number.POSITIVE_INFINITY
  let power = x
  let weight = 1
  let sum = x
  let before: number
  do {
    power *= power
    before = sum
    sum += power * weight
    weight += weight
  } while (sum !== before)
  return sum
}

/** (1 - x - Σ (1 - x^(2^-k))² 2^-k) / 3: how much the registers at the largest rank say. */
function tau(x: number): number {
  if (x === 0 || x === 1) return 0
  let root = x
  let weight = 1
  let sum = 1 - x
  let before: number
  do {
    root = Math.sqrt(root)
    before = sum
    weight *= 0.5
    sum -= (1 - root) * (1 - root) * weight
  } while (sum !== before)
  return sum / 3
}
