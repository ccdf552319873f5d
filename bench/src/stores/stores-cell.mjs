// Decisions of one process on one store, in a separate process.
import { createLimiter } from '@sluice/limiter-core'
import { childOptions, finishChild } from '../run/child.mjs'
import { quantiles } from '../run/latencies.mjs'
import { backends } from './store-backends.mjs'

const LIMIT = 900_000_000_000

const { store, servers, callers, keys, ms } = childOptions()
const { backend, close } = await backends[store](servers)
// far above any latency, so that the failure rule decides nothing
const limiter = createLimiter({
  backend,
  deadlineMs: 60_000,
  policies: [{ name: 'bench', limit: LIMIT, window: '1h', algorithm: 'fixed-window' }],
})
const names = Array.from({ length: keys }, (_, index) => `client ${index}`)
// opens the connections and compiles the measured code
await loop(ms / 5)
const cpuBefore = process.cpuUsage()
const tookMs = await loop(ms)
const { user, system } = process.cpuUsage(cpuBefore)
limiter.close()
await close()
finishChild({
  perSecond: (tookMs.length / ms) * 1_000,
  cpuUs: (user + system) / tookMs.length,
  ...quantiles(tookMs),
})

async function loop(forMs) {
  const latencies = []
  const endsAt = performance.now() + forMs
  const caller = async () => {
    for (let from = performance.now(); from < endsAt; ) {
      const { allowed, counted } = await limiter.take(names[Math.floor(Math.random() * keys)])
      if (!(allowed && counted)) throw new Error('a request was denied or not counted')
      const to = performance.now()
      latencies.push(to - from)
      from = to
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return latencies
}
