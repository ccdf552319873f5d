// One backend in a separate process: under a steady load on one key, or with keys that are each used once.
import { setTimeout as sleep } from 'node:timers/promises'
import { createLimiter } from '@sluice/limiter-core'
import { leasedBackend, redisBackend } from '@sluice/redis'
import { keyAt } from '../decisions/loads.mjs'
import { closedLoop } from '../redis/closed-loop.mjs'
import { connect } from '../redis/redis-client.mjs'
import { childOptions, finishChild } from '../run/child.mjs'

const { backend, port, scope, crowd, keys } = childOptions()
const tasks = 20
const everyMs = 20
const makes = { exact: redisBackend, leased: leasedBackend }

async function limiterOf(policy) {
  const made = makes[backend](await connect(port))
  // long, so that a busy machine does not affect the result
  const limiter = createLimiter({ policies: [policy], backend: made, scope, deadlineMs: 5_000 })
  // opens the connection, loads the scripts, compiles the measured code
  for (let call = 0; call < 2_000; call++) await limiter.take(`warm ${call >> 3}`)
  return limiter
}

/** Twenty tasks that each take from the same key every 20 ms, in step like the timers of one process. */
async function steadyCrowd({ limit, windowMs, ms }) {
  const limiter = await limiterOf({ name: 'hot', algorithm: 'token-bucket', limit, window: windowMs, burst: limit })
  const tookMs = []
  let admitted = 0
  const endsAt = performance.now() + ms
  const task = async () => {
    while (performance.now() < endsAt) {
      const from = performance.now()
      const given = limiter.take('hot')
      const decision = typeof given.then === 'function' ? await given : given
      tookMs.push(performance.now() - from)
      if (decision.allowed) admitted++
      await sleep(everyMs)
    }
  }
  await Promise.all(Array.from({ length: tasks }, task))
  const sorted = Float64Array.from(tookMs).sort()
  const quantileUs = (share) => sorted[Math.ceil(sorted.length * share) - 1] * 1_000
  const most = limit + (limit * ms) / windowMs
  return {
    asked: sorted.length,
    admittedPercent: (100 * admitted) / Math.min(sorted.length, most),
    p50Us: quantileUs(0.5),
    p99Us: quantileUs(0.99),
    p999Us: quantileUs(0.999),
  }
}

/** Takes from each key once, with 64 callers. */
async function keysOnce(amount) {
  const limiter = await limiterOf({ name: 'once', algorithm: 'sliding-window', limit: 1_000, window: '1h' })
  let next = 0
  const opened = { take: (key) => limiter.take(key), allowed: ({ allowed }) => allowed }
  const { tookMs, cpuUs, decisions, passed } = await closedLoop(opened, () => keyAt(next++), {
    concurrency: 64,
    amount,
  })
  await limiter.close()
  if (passed !== amount) throw new Error(`${backend} denied ${amount - passed} of ${amount} keys that came once`)
  return { perSecond: (decisions / tookMs) * 1_000, clientUs: cpuUs / decisions }
}

finishChild(crowd ? await steadyCrowd(crowd) : await keysOnce(keys))
