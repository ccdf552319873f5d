/**
 * The chance that `hashes` random cells of `cells` are all taken, once `throws` random cells were. It is the mean of a
 * power, which is more than the power of the mean (Bose et al. 2008): by (k choose 2) of the relative variance of how
 * many are taken, which 512 cells feel and a million do not.
 */
export function rateAfter(throws: number, cells: number, hashes: number): number {
  if (throws === 0) return 0
  const free = Math.exp(throws * Math.log1p(-1 / cells))
  const taken = 1 - free
  const bothFree = Math.exp(throws * Math.log1p(-2 / cells))
  const variance = free / cells + (1 - 1 / cells) * bothFree - free * free
  const correction = 1 + (hashes * (hashes - 1) * variance) / (2 * taken * taken)
  return Math.min(1, taken ** hashes * correction)
}

/**
 * Estimates the number of keys that set `taken` of `cells`, `hashes` random ones each (Swamidass and Baldi 2007).
 * Infinity if all are set.
 */
export function keysBehind(taken: number, cells: number, hashes: number): number {
  // + 0: an empty one has 0 and not -0 keys
  return Math.log1p(-taken / cells) / (hashes * Math.log1p(-1 / cells)) + 0
}
