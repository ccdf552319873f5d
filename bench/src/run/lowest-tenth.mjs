/** Mean of the lowest tenth of measurements, at least of one. */
export function lowestTenth(values) {
  const sorted = Float64Array.from(values).sort()
  const lowest = sorted.subarray(0, Math.max(1, Math.floor(sorted.length / 10)))
  return lowest.reduce((sum, value) => sum + value) / lowest.length
}
