import { describe, expect, test } from '@jest/globals'
import { createLimiter, memoryBackend, type SyncLimiterOptions } from '@sluice/limiter-core'
import { rateLimit } from '@sluice/node-http'
import { sketchBackend } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'

type Policies = SyncLimiterOptions['policies']

const minute: Policies[number] = { name: 'minute', limit: 3, window: '1m' }
const hour: Policies[number] = { name: 'hour', limit: 3, window: '1h' }

// the first policy bound the window of the backend for good, though its limiter was never built
describe('a limiter that is refused leaves the window of its sketchBackend to others', () => {
  test.each<[string, Policies]>([
    ['of another window', [minute, hour]],
    ['that no algorithm keeps', [minute, { ...minute, name: 'bucket', algorithm: 'token-bucket' }]],
    ['that another backend refuses', [minute, { ...hour, limit: 255, backend: sketchBackend({ cells: 8 }) }]],
    ['that is none', [minute, { ...minute, name: 'late', mode: 'sometimes' } as never]],
  ])('by a policy %s', (_what, policies) => {
    const backend = sketchBackend()
    expect(() => createLimiter({ policies, backend })).toThrow(/SLUICE_BAD_(POLICY|OPTION)/)
    expect(createLimiter({ policies: [hour], backend }).take('a').allowed).toBe(true)
  })

  test.each<[string, object]>([
    ['a key', { key: 5 }],
    ['a cost', { cost: { reserve: 0, settle: () => 1 } }],
  ])('by %s, and the names of its counts with it', (_what, wrong) => {
    for (const backend of [sketchBackend(), memoryBackend()]) {
      const api = { name: 'api', backend } as const
      expect(() => rateLimit({ ...api, limit: 100, window: '1m', ...wrong } as never)).toThrow(/SLUICE_BAD_/)
      expect(() => rateLimit({ ...api, limit: 50, window: '1h' })).not.toThrow()
    }
  })

  test('by a name that is counted otherwise, and other names with it', () => {
    const backend = sketchBackend()
    createLimiter({ policies: [minute], backend })
    const twice: Policies = [
      { ...minute, name: 'new' },
      { ...minute, limit: 4 },
    ]
    expect(() => createLimiter({ policies: twice, backend })).toThrow(/SLUICE_DUPLICATE_POLICY/)
    expect(() => createLimiter({ policies: [{ ...minute, name: 'new', limit: 9 }], backend })).not.toThrow()
  })
})

describe('the window of a sketchBackend', () => {
  test('is free again once every limiter is closed, as long as nothing was counted', () => {
    const backend = sketchBackend()
    const limiters = [minute, { ...minute, name: 'other' }].map((one) => createLimiter({ policies: [one], backend }))
    limiters[0].close()
    limiters[0].close()
    expect(() => createLimiter({ policies: [hour], backend })).toThrow(/SLUICE_BAD_POLICY: policy 'hour'/)
    limiters[1].close()
    expect(() => createLimiter({ policies: [hour], backend })).not.toThrow()
  })

  test('stays where something was, and who is closed goes on counting', () => {
    const backend = sketchBackend()
    const limiter = createLimiter({ policies: [minute], backend })
    limiter.take('a', 2)
    limiter.close()
    expect(() => createLimiter({ policies: [hour], backend })).toThrow(/SLUICE_BAD_POLICY: policy 'hour'/)
    expect([limiter.take('a', 2).allowed, limiter.take('a').allowed]).toEqual([false, true])
  })
})

test('the alarm of a sketchBackend says nothing of policies that were refused or are closed', () => {
  const clock = new FakeClock()
  const backend = sketchBackend({ bytes: 65_536, clock, seed: 'sixteen secret bytes' })
  const tiny = { name: 'tiny', limit: 2, window: '1m' } as const
  expect(() => createLimiter({ policies: [tiny, hour], backend, clock })).toThrow(/SLUICE_BAD_POLICY/)
  createLimiter({ policies: [{ ...tiny, name: 'closed' }], backend, clock }).close()
  const limiter = createLimiter({ policies: [minute], backend, clock })
  const told: unknown[] = []
  backend.observe?.({ event: (_name, data) => void told.push(data.policy) })
  for (let key = 0; key < 20_000; key++) limiter.take(`flood ${key}`)
  expect(told).toEqual(['minute'])
})
