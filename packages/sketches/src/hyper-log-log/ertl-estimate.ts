/**
 * Estimates the number of keys of a HyperLogLog from the number of registers with each rank: Ertl's improved
 * estimator (arXiv:1702.01284, algorithm 6), which needs no bias table and no special rule for few keys. Redis uses
 * it too.
 *
 * `counts[k]` is the number of registers with rank k, from 0 to `ranks`; their sum is `registers`. `ranks` is the
 * largest possible rank and means that or more. Returns 0 if no register is set, and `Infinity` if all have the
 * largest rank.
 */
export function ertlEstimate(counts: Uint32Array, registers: number, ranks: number): number {
  let z = registers * tau((registers - counts[ranks]) / registers)
  for (let rank = ranks - 1; rank >= 1; rank--) z = 0.5 * (z + counts[rank])
  z += registers * sigma(counts[0] / registers)
  return (ALPHA * registers * registers) / z
}

/** 1 / (2 ln 2). */
const ALPHA = 0.7213475204444817

/** x + Σ x^(2^k) 2^(k-1): contribution of the registers with rank 0. Infinite at 1. */
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

/** (1 - x - Σ (1 - x^(2^-k))² 2^-k) / 3: contribution of the registers with the largest rank. */
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
