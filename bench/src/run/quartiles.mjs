/** Lower quartile, median and upper quartile of measurements. */
export function quartilesOf(values) {
  const sorted = Float64Array.from(values).sort()
  const at = (share) => {
    const place = (sorted.length - 1) * share
    const low = sorted[Math.floor(place)]
    return low + (sorted[Math.ceil(place)] - low) * (place - Math.floor(place))
  }
  return { low: at(0.25), median: at(0.5), high: at(0.75) }
}
