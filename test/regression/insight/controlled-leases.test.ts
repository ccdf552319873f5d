import { expect, test } from '@jest/globals'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { Operator } from '../../limiter/controls/controlled.ts'
import { countingBackends } from '../../limiter/counting-backends.ts'

async function passing(limiter: Limiter, key: string): Promise<number> {
  let passed = 0
  while (passed < 3_000 && (await limiter.take(key)).allowed) passed++
  return passed
}

test.each(['leasedBackend', 'a worker of a cluster', 'a synced backend', 'memoryBackend'] as const)(
  'units leased under one limit are valid under another one: %s',
  async (name) => {
    const operator = new Operator()
    const backend = countingBackends[name](new FakeClock({ nowMs: 1_000 }))
    const policies = [{ name: 'api', limit: 1_000, window: '1h', algorithm: 'fixed-window' }] as const
    const limiter: Limiter = createLimiter({ policies, backend, deadlineMs: 5_000, observers: [operator] })
    const [watched] = operator.limiters
    for (let n = 0; n < 300; n++) await limiter.take('key')
    operator.setControls({ api: { limit: 100 } })
    expect(await passing(limiter, 'key')).toBe(0)
    operator.setControls({ api: { limit: 400 } })
    expect(await passing(limiter, 'key')).toBe(100)
    operator.release()
    expect(await passing(limiter, 'key')).toBe(600)
    operator.setControls({ api: { limit: 500 } })
    for (let n = 0; n < 300; n++) await limiter.take('other')
    await watched.reset(0, 'other')
    expect(await passing(limiter, 'other')).toBe(500)
    operator.release()
    expect(await passing(limiter, 'other')).toBe(500)
    limiter.close()
    await backend.close?.()
  },
)
