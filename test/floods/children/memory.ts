import { createLimiter, memoryBackend } from '@sluice/limiter-core'

const [maxBytes, keys, algorithm] = process.argv.slice(1)
const policy = { algorithm: algorithm as 'gcra', limit: 10, window: '1h' } as const

function take(limiter: ReturnType<typeof createLimiter>, count: number): number {
  let worstMs = 0
  let startedAt = performance.now()
  for (let key = 0; key < count; key++) {
    limiter.take(`client-${key}`)
    if (key % 64 !== 63) continue
    const now = performance.now()
    worstMs = Math.max(worstMs, now - startedAt)
    startedAt = now
  }
  return worstMs
}

// warm, so that what compilers need is not counted
take(createLimiter({ policies: [policy], backend: memoryBackend({ maxBytes: 65_536 }) }), 100_000)
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
const worstStallMs = take(
  createLimiter({ policies: [policy], backend: memoryBackend({ maxBytes: Number(maxBytes) }) }),
  Number(keys),
)
const after = settle()
console.log(
  JSON.stringify({ peakBuffers, rss: after.rss - before.rss, heap: after.heapUsed - before.heapUsed, worstStallMs }),
)
