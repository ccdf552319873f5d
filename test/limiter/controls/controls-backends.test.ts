import { expect, test } from '@jest/globals'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { countingBackends, passing } from '../counting-backends.ts'
import { Operator } from './controlled.ts'

test.each(Object.entries(countingBackends))('controls on %s', async (_name, make) => {
  const operator = new Operator()
  const backend = make(new FakeClock({ nowMs: 1_000 }))
  const policies = [{ name: 'api', limit: 20, window: '1h', algorithm: 'fixed-window' }] as const
  // a real server has its own clock, and the first connection takes some time
  const limiter: Limiter = createLimiter({ policies, backend, deadlineMs: 5_000, observers: [operator] })
  const [watched] = operator.limiters
  expect(await passing(limiter, 'key', 5)).toBe(5)
  operator.setControls({ api: { limit: 30 } })
  expect((await watched.peek(0, 'key', 1)).binding.policy.limit).toBe(30)
  expect(await passing(limiter, 'key')).toBe(25)
  operator.setControls({ api: { limit: 10 } })
  expect(await passing(limiter, 'key')).toBe(0)
  expect(await passing(limiter, 'other')).toBe(10)
  operator.setControls({ api: { mode: 'off' } })
  expect(await passing(limiter, 'off', 40)).toBe(40)
  operator.setControls({}, { villain: 1_000 })
  expect(await limiter.take('villain')).toMatchObject({ allowed: false, source: 'blocked', retryAfterMs: 1_000 })
  operator.release()
  expect(await passing(limiter, 'other')).toBe(10)
  expect(await passing(limiter, 'off')).toBe(20)
  await watched.reset(0, 'key')
  expect(await passing(limiter, 'key')).toBe(20)
  limiter.close()
  await backend.close?.()
})

test('leased units are reported until they are returned', async () => {
  const operator = new Operator()
  const backend = countingBackends.leasedBackend(new FakeClock())
  const policies = [{ name: 'api', limit: 1_000, window: '1h', algorithm: 'fixed-window' }] as const
  const limiter: Limiter = createLimiter({ policies, backend, deadlineMs: 5_000, observers: [operator] })
  const [{ policies: watched }] = operator.limiters
  expect(watched[0].heldUnitsOf('key')).toEqual([])
  // the first takes of a key are not leased
  while (watched[0].heldUnitsOf('key').length === 0) await limiter.take('key')
  const [{ kind, units, endsAfterMs }] = watched[0].heldUnitsOf('key')
  expect([kind, units > 0, endsAfterMs > 0]).toEqual(['lease', true, true])
  limiter.close()
  await backend.close?.()
})
