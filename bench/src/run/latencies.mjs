/** Runs `run` and records its duration in ms. */
export async function timed(run, latencies) {
  const from = performance.now()
  await run()
  latencies.push(performance.now() - from)
}

export function quantiles(latencies) {
  const sorted = Float64Array.from(latencies).sort()
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), longest: at(1) }
}
