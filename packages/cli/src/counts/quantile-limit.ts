import type { TDigest } from '@sluice/sketches'

/**
 * Returns the smallest limit under which a share of the clients stays: the value of the client at that rank, rounded up.
 * Unlike a quantile, it is never between the values of two clients. Returns 0 without clients.
 */
export function quantileLimit(busiestWindows: TDigest, share: number): number {
  const wanted = share * busiestWindows.count
  let seen = 0
  for (const { mean, weight } of busiestWindows.centroids()) {
    seen += weight
    // sums of shares such as 0.999 are not exact
    if (seen >= wanted - 1e-6) return Math.ceil(mean - 1e-9)
  }
  return 0
}

/** Two standard errors: 95 of 100 samples are within them. */
const CONFIDENCE = 2

/**
 * Returns by how much the share of a limit may be off: by the width of a centroid of the t-digest (scale k2), which is 0
 * while no values were merged, and by the sampling of the clients if `isSample`.
 */
export function rankError(busiestWindows: TDigest, share: number, isSample: boolean): number {
  const { count, compression } = busiestWindows
  if (count === 0) return 0
  const spread = share * (1 - share)
  const isMerged = busiestWindows.centroids().some(({ weight }) => weight > 1)
  const scale = 4 * Math.log(Math.max(1, count / compression)) + 24
  return (isMerged ? (scale * spread) / compression : 0) + (isSample ? CONFIDENCE * Math.sqrt(spread / count) : 0)
}
