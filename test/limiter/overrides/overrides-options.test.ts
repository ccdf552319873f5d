import { describe, expect, test } from '@jest/globals'
import { type Backend, createLimiter, type LimitOverrides, limitOverrides, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { limited, MINUTE } from './overridden.ts'

describe('closing a limiter', () => {
  test('closes one counter per limit, each of which was opened once', () => {
    const clock = new FakeClock()
    const memory = memoryBackend({ clock })
    const opened: number[] = []
    const closed: number[] = []
    const backend = {
      name: 'counted',
      synchronous: true,
      open: (compiled, name) => {
        const { limit } = compiled.policy
        opened.push(limit)
        return Object.assign(memory.open(compiled, name), { close: () => closed.push(limit) })
      },
      takeAll: (...asked) => memory.takeAll(...asked),
      peekAll: (...asked) => memory.peekAll(...asked),
      adjustAll: (...asked) => memory.adjustAll(...asked),
      resetAll: (...asked) => memory.resetAll(...asked),
    } satisfies Partial<Backend> as Backend
    let limits: Record<string, number> = { a: 20, b: 20, c: 30 }
    const overrides = limitOverrides({ load: () => limits, clock })
    const limiter = createLimiter({ policies: [{ name: 'api', limit: 10, window: '1m', backend, overrides }], clock })
    limits = { a: 30, b: 40 }
    clock.advance(MINUTE)
    clock.advance(MINUTE)
    expect(opened).toEqual([10, 20, 30, 40])
    limiter.close()
    expect(closed.toSorted()).toEqual([10, 20, 30, 40])
    limits = { a: 50 }
    clock.advance(MINUTE)
    expect(opened).toHaveLength(4)
  })
})

describe('options of limitOverrides', () => {
  const untyped = limitOverrides as (options?: unknown) => unknown
  test.each<[options: unknown, code: string, message: string]>([
    [undefined, 'SLUICE_BAD_OPTION', 'limitOverrides: expected an object of options, received undefined'],
    [{}, 'SLUICE_BAD_OPTION', 'limitOverrides: expected either load or limits, received neither'],
    [
      { limits: {}, load: () => ({}) },
      'SLUICE_BAD_OPTION',
      'limitOverrides: expected either load or limits, received both',
    ],
    [{ limits: {}, refreshMs: '1m' }, 'SLUICE_BAD_OPTION', 'received an unknown option "refreshMs"'],
    [{ limits: {}, every: '1m' }, 'SLUICE_BAD_OPTION', 'received an unknown option "every"'],
    [
      { limits: [] },
      'SLUICE_BAD_OPTION',
      'limitOverrides: limits: expected an object of limits by key, received an array of length 0',
    ],
    [
      { limits: { key: 0 } },
      'SLUICE_BAD_LIMIT',
      "limitOverrides: a key's limit: expected an integer from 1 to 999999999999999, received 0",
    ],
    [{ load: {} }, 'SLUICE_BAD_OPTION', 'limitOverrides: load: expected a function, received an object'],
    [{ limits: {}, hierarchical: 1 }, 'SLUICE_BAD_OPTION', 'hierarchical: expected true or false, received a number'],
    [
      { limits: {}, others: 'deny' },
      'SLUICE_BAD_OPTION',
      `others: expected one of 'policy', 'exempt', received "deny"`,
    ],
    [{ load: () => ({}), refreshMs: 60 }, 'SLUICE_BAD_DURATION', 'or an integer of at least 1000 (ms), received 60'],
    [
      { load: () => ({}), refreshMs: '999ms' },
      'SLUICE_BAD_DURATION',
      'limitOverrides: refreshMs: expected 1000 to 2147483647 ms, received "999ms"',
    ],
    [
      { load: () => ({}), refreshMs: '30d' },
      'SLUICE_BAD_DURATION',
      'limitOverrides: refreshMs: expected 1000 to 2147483647 ms, received "30d"',
    ],
    [
      { load: () => ({}), clock: {} },
      'SLUICE_BAD_OPTION',
      'clock: expected a clock with now, wall and after, received an object',
    ],
  ])('%j: %s', (options, code, message) => {
    expect(() => untyped(options)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }))
  })

  test('are not accepted directly as overrides of a policy', () => {
    const overrides = { limits: { key: 20 } } as unknown as LimitOverrides
    expect(() => limited(overrides)).toThrow(
      "policy 'api': overrides: expected the result of limitOverrides({ … }), received an object",
    )
  })

  test('with limits invalid for the policy are rejected when the limiter is created, and nothing stays registered', () => {
    const overrides = limitOverrides({ limits: { key: 2_000 } })
    const backend = memoryBackend()
    const policies = [{ name: 'api', limit: 10, window: '1s', algorithm: 'gcra', overrides }] as const
    expect(() => createLimiter({ policies, backend })).toThrow('limit: expected at most one unit per ms for gcra')
    createLimiter({ policies: [{ name: 'api', limit: 11, window: '1s' }], backend }).close()
  })
})
