import { describe, expect, test } from '@jest/globals'
import { createLimiter, memoryBackend, type SyncLimiterOptions } from '@sluice/limiter-core'
import { rateLimit } from '@sluice/node-http'
import { sketchBackend } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'

type Policies = SyncLimiterOptions['policies']

const minute: Policies[number] = { name: 'minute', limit: 3, window: '1m' }
const hour: Policies[number] = { name: 'hour', limit: 3, window: '1h' }

// regression: the first policy fixed the window of the backend forever, although its limiter was rejected
describe('a limiter that is rejected leaves the window of its sketchBackend unset', () => {
  test.each<[string, Policies]>([
    ['with another window', [minute, hour]],
    ['with an unknown algorithm', [minute, { ...minute, name: 'bucket', algorithm: 'token-bucket' }]],
    ['that another backend rejects', [minute, { ...hour, limit: 255, backend: sketchBackend({ cells: 8 }) }]],
    ['that is not an object', [minute, { ...minute, name: 'late', mode: 'sometimes' } as never]],
  ])('for a policy %s', (_what, policies) => {
    const backend = sketchBackend()
    expect(() => createLimiter({ policies, backend })).toThrow(/SLUICE_BAD_(POLICY|OPTION)/)
    expect(createLimiter({ policies: [hour], backend }).take('a').allowed).toBe(true)
  })

  test.each<[string, object]>([
    ['a key', { key: 5 }],
    ['a cost', { cost: { reserve: 0, settle: () => 1 } }],
  ])('for %s, and releases the names of its counts', (_what, wrong) => {
    for (const backend of [sketchBackend(), memoryBackend()]) {
      const api = { name: 'api', backend } as const
      expect(() => rateLimit({ ...api, limit: 100, window: '1m', ...wrong } as never)).toThrow(/SLUICE_BAD_/)
      expect(() => rateLimit({ ...api, limit: 50, window: '1h' })).not.toThrow()
    }
  })

  test('for a name with other data, and releases its other names', () => {
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
  test('is free again once every limiter is closed, unless something was counted', () => {
    const backend = sketchBackend()
    const limiters = [minute, { ...minute, name: 'other' }].map((one) => createLimiter({ policies: [one], backend }))
    limiters[0].close()
    limiters[0].close()
    expect(() => createLimiter({ policies: [hour], backend })).toThrow(/SLUICE_BAD_POLICY: policy 'hour'/)
    limiters[1].close()
    expect(() => createLimiter({ policies: [hour], backend })).not.toThrow()
  })

  test('stays if something was counted, and closed limiters keep counting', () => {
    const backend = sketchBackend()
    const limiter = createLimiter({ policies: [minute], backend })
    limiter.take('a', 2)
    limiter.close()
    expect(() => createLimiter({ policies: [hour], backend })).toThrow(/SLUICE_BAD_POLICY: policy 'hour'/)
    expect([limiter.take('a', 2).allowed, limiter.take('a').allowed]).toEqual([false, true])
  })
})

test('the alarm of a sketchBackend does not include policies of rejected or closed limiters', () => {
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
