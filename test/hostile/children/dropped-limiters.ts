import { createLimiter, memoryBackend } from '@sluice/limiter-core'

const kind = process.argv[1]
const WARM_UP = 8_000
const ROUNDS = 16_000
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

/** Bytes of reachable objects. Finalization callbacks, which remove what is left of a limiter, run in later turns. */
async function heap(): Promise<number> {
  for (let run = 0; run < 4; run++) {
    global.gc?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

/** Growth of the heap in bytes per round. */
async function growth(): Promise<number> {
  const before = await heap()
  for (let run = 0; run < ROUNDS; run++) round()
  return ((await heap()) - before) / ROUNDS
}

async function measure(): Promise<void> {
  for (let run = 0; run < WARM_UP; run++) round()
  // compiled code grows the heap once, and a leak grows it each time
  const bytesEach = Math.min(await growth(), await growth())
  console.log(JSON.stringify({ bytesEach }))
}

void measure()
