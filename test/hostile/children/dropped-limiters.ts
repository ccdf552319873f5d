import { createLimiter, memoryBackend } from '@sluice/limiter-core'

const kind = process.argv[1]
const ROUNDS = 20_000
const backend = memoryBackend()

function round(): void {
  const policies = [{ limit: 100, window: '1m' }] as const
  if (kind === 'default') {
    createLimiter({ policies }).take('key')
    return
  }
  const limiter = createLimiter({ policies, backend, observers: [{ decided() {} }] })
  limiter.take('key')
  limiter.close()
}

const heap = (): number => {
  for (let run = 0; run < 3; run++) global.gc?.()
  return process.memoryUsage().heapUsed
}
for (let run = 0; run < 2_000; run++) round()
const before = heap()
for (let run = 0; run < ROUNDS; run++) round()
console.log(JSON.stringify({ bytesEach: (heap() - before) / ROUNDS }))
