import { quantiles } from '../run/latencies.mjs'
import { ask, openContender } from './contenders.mjs'
import { openLoad } from './loads.mjs'

/** Returns the 99.9th percentile, in µs, of decisions on one key, collections of garbage included. */
export async function p999Us(name, smoke) {
  const calls = smoke ? 2_000 : 1_000_000
  const { keys, next } = openLoad('hot', { smoke })
  const promise = { limit: 1e9, windowMs: 600_000, capacity: keys.length, maxBytes: 64 << 20 }
  const opened = await openContender(name, promise)
  const latencies = new Float64Array(calls)
  const run = opened.contender.awaited ? timeAwaited : timeAtOnce
  // the first two runs compile the measured code
  for (let times = 0; times < 3; times++) await run(opened, next, latencies)
  return quantiles(latencies).p999 * 1_000
}

function timeAtOnce({ take, allowed }, next, latencies) {
  let passed = 0
  for (let call = 0; call < latencies.length; call++) {
    const from = performance.now()
    if (allowed(take(next(call)))) passed++
    latencies[call] = performance.now() - from
  }
  return passed
}

async function timeAwaited(opened, next, latencies) {
  let passed = 0
  for (let call = 0; call < latencies.length; call++) {
    const from = performance.now()
    if (await ask(opened, next(call))) passed++
    latencies[call] = performance.now() - from
  }
  return passed
}
