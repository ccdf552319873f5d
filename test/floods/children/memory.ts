import { createLimiter, memoryBackend } from '@sluice/limiter-core'

// the stalls are measured on request, because this takes as long as everything else
const [maxBytes, keys, algorithm, limit = '10', stalls] = process.argv.slice(1)
const policy = { algorithm: algorithm as 'gcra', limit: Number(limit), window: '1h' } as const

/** The slowest 64 decisions, in CPU ms of this process: wall time on a shared machine includes other processes. */
function longestBatchMs(limiter: ReturnType<typeof createLimiter>, count: number): number {
  let longest = 0
  let since = process.cpuUsage()
  for (let key = 0; key < count; key++) {
    limiter.take(`client-${key}`)
    if (key % 64 !== 63) continue
    const { user, system } = process.cpuUsage(since)
    longest = Math.max(longest, (user + system) / 1_000)
    since = process.cpuUsage()
  }
  return longest
}

// warm up, so that memory of the compilers is not counted
longestBatchMs(createLimiter({ policies: [policy], backend: memoryBackend({ maxBytes: 65_536 }) }), 100_000)
const settle = (): NodeJS.MemoryUsage => {
  for (let round = 0; round < 3; round++) global.gc?.()
  return process.memoryUsage()
}
const before = settle()
const limiter = createLimiter({ policies: [policy], backend: memoryBackend({ maxBytes: Number(maxBytes) }) })
let peakBuffers = 0
for (let part = 0; part < 10; part++) {
  for (let key = 0; key < Number(keys) / 10; key++) limiter.take(`part-${part}-${key}`)
  peakBuffers = Math.max(peakBuffers, settle().arrayBuffers - before.arrayBuffers)
}
let worstStallMs: number | undefined
if (stalls !== undefined) {
  const stalled = createLimiter({ policies: [policy], backend: memoryBackend({ maxBytes: Number(maxBytes) }) })
  worstStallMs = longestBatchMs(stalled, Number(keys))
}
const after = settle()
console.log(
  JSON.stringify({ peakBuffers, rss: after.rss - before.rss, heap: after.heapUsed - before.heapUsed, worstStallMs }),
)
