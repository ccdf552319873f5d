import { setImmediate } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { createSluice } from '@sluice/express'
import { createInflightLimiter, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { leasedBackend, redisBackend, redisInflight } from '@sluice/redis'
import { FakeClock, Warnings } from '@sluice/testkit'
import { collectGarbage } from '../../fetch/dropped/collect-garbage.ts'

const runner = { run: () => new Promise<never>(() => {}) }

/** Ends the current job, which keeps what it has read from weak references, and collects garbage. */
async function collected(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await setImmediate()
    collectGarbage()
  }
}

type Make = (limit: number) => unknown

const MAKERS: Readonly<Record<string, () => Make>> = {
  'a limiter in memory': () => {
    const backend = memoryBackend()
    return (limit) => createLimiter({ name: 'api', limit, window: '1m', backend })
  },
  'a limiter with a ban, in a scope of the default backend': () => (limit) =>
    createLimiter({ name: 'api', limit, window: '1m', ban: { after: 3, within: '1m', for: '1m' }, scope: 'reloaded' }),
  'a limiter in Redis': () => {
    const backend = redisBackend(runner, { prefix: 'a' })
    return (limit) => createLimiter({ name: 'api', limit, window: '1m', backend })
  },
  'a limiter with leases': () => {
    const backend = leasedBackend(runner, { prefix: 'b', clock: new FakeClock() })
    return (limit) => createLimiter({ name: 'api', limit, window: '1m', backend })
  },
  'a limiter of requests': () => {
    const { rateLimit } = createSluice({ backend: memoryBackend() })
    return (limit) => rateLimit({ name: 'api', limit, window: '1m' })
  },
  'a limiter that fails over': () => {
    const { rateLimit } = createSluice({ backend: redisBackend(runner, { prefix: 'c' }), onBackendError: 'local' })
    return (limit) => rateLimit({ name: 'api', limit, window: '1m' })
  },
  'a cap': () => {
    const backend = redisInflight(runner, { maxHoldMs: 60_000 })
    return (limit) => createInflightLimiter({ name: 'api', limit, backend })
  },
}

test.each(Object.keys(MAKERS))('%s that was collected does not keep its name on a backend', async (name) => {
  const warnings = new Warnings()
  warnings.listen()
  const make = MAKERS[name]()
  make(5)
  await collected()
  expect(() => make(6)).not.toThrow()
  await collected()
  const kept = make(7)
  await collected()
  expect(() => make(8)).toThrow(/SLUICE_DUPLICATE_POLICY/)
  expect(kept).toBeDefined()
  expect(warnings.codes).not.toContain('SLUICE_SHARED_COUNT')
  warnings.stop()
})
