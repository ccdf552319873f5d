import { describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type InflightLimiter, type Permit } from '@sluice/limiter-core'
import { type SketchInflightOptions, sketchInflight } from '@sluice/sketches/limits'
import { FakeClock, inflightContract } from '@sluice/testkit'

const forms: [string, SketchInflightOptions][] = [
  ['the sketch alone', {}],
  ['two stages, from half of the limit on', { trigger: 0.5 }],
  ['two stages, from the second permit on', { trigger: 1 }],
  ['two stages, of which the second is never reached', { trigger: 100 }],
  ['one row whose width is not a power of two', { rows: 1, slots: 1_000_003 }],
  ['eight rows', { rows: 8, slots: 500, trigger: 2 }],
]

describe.each(forms)('sketchInflight: %s', (_, form) =>
  inflightContract({ describe, test }, ({ limit, clock, observers, maxHoldMs }): InflightLimiter => {
    const backend = sketchInflight({ seed: 'a seed of this test', ...form, clock })
    const limiter = createInflightLimiter({ limit, backend, clock, observers, maxHoldMs })
    return {
      name: limiter.name,
      limit: limiter.limit,
      limitOf: (key) => limiter.limitOf(key),
      acquire: (key, options) => limiter.acquire(key, options),
      count: (key) => limiter.count(key),
      close: () => {
        limiter.close()
        backend.close?.()
      },
    }
  }),
)

describe('caps on one backend', () => {
  const limiterOn = (backend: ReturnType<typeof sketchInflight>, name: string, limit: number): InflightLimiter =>
    createInflightLimiter({ name, limit, backend, shared: true })

  test.each(forms)(
    'with different names are separate, and with the same name share their counts: %s',
    async (_, form) => {
      const backend = sketchInflight(form)
      const [report, login, again] = [
        limiterOn(backend, 'report', 2),
        limiterOn(backend, 'login', 3),
        limiterOn(backend, 'report', 2),
      ]
      await report.acquire('k')
      await again.acquire('k')
      expect(await report.acquire('k')).toBeUndefined()
      await login.acquire('k')
      expect([await report.count('k'), await again.count('k'), await login.count('k')]).toEqual([2, 2, 1])
    },
  )

  test('with one name and different places are separate', () => {
    const backend = sketchInflight()
    const [a, b] = [
      { name: 'inflight', place: 'a', limit: 1 },
      { name: 'inflight', place: 'b', limit: 1 },
    ]
    expect(backend.acquire('k', { cap: a })).toHaveProperty('release')
    expect(backend.acquire('k', { cap: b })).toHaveProperty('release')
    expect(backend.acquire('k', { cap: a })).toHaveProperty('allowed', false)
  })

  test('define the limit, and a new cap finds the permits of an earlier cap with its name', async () => {
    const backend = sketchInflight({ trigger: 1 })
    const first = limiterOn(backend, 'report', 4)
    const held = [await first.acquire('k'), await first.acquire('k'), await first.acquire('k')]
    first.close()
    const second = limiterOn(backend, 'report', 3)
    expect(await second.acquire('k')).toBeUndefined()
    held[2]?.release()
    expect(await second.acquire('k')).toBeDefined()
    expect(await second.count('k')).toBe(3)
  })

  test('are required, since the limit is unknown without one', () => {
    const attempt = (): unknown => sketchInflight().acquire('k')
    expect(attempt).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_LIMIT' }))
  })
})

test('an invalid weight is rejected before anything has changed', () => {
  const backend = sketchInflight()
  const cap = { name: 'report', limit: 5 }
  for (const weight of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => backend.acquire('k', { cap, weight })).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_LIMIT' }))
  }
  expect(backend.count?.('k', cap)).toBe(0)
})

test('two permits with different bounds expire independently', () => {
  const clock = new FakeClock()
  const backend = sketchInflight({ clock, trigger: 1 })
  const short = { name: 'short', limit: 5, maxHoldMs: 100 }
  const long = { name: 'long', limit: 5, maxHoldMs: 1_000 }
  for (const cap of [short, long]) for (let one = 0; one < 3; one++) backend.acquire('k', { cap })
  clock.advance(100)
  expect([backend.count?.('k', short), backend.count?.('k', long)]).toEqual([0, 3])
  clock.advance(900)
  expect(backend.count?.('k', long)).toBe(0)
  backend.acquire('k', { cap: long })
  backend.close?.()
  expect(clock.pending).toBe(0)
})

test('the timers of released permits are removed', () => {
  const clock = new FakeClock()
  const backend = sketchInflight({ clock })
  const cap = { name: 'report', limit: 5, maxHoldMs: 1_000 }
  for (const ms of [500, 500]) {
    const permit = backend.acquire('k', { cap }) as Permit
    permit.release()
    clock.advance(ms)
  }
  expect(clock.pending).toBe(0)
})

test.each<[string, object]>([
  ['rows', { rows: 0 }],
  ['slots', { slots: 2 ** 24 + 1 }],
  ['trigger', { trigger: 0 }],
  ['trigger', { trigger: -1 }],
  ['trigger', { trigger: 1.5 }],
  ['trigger', { trigger: Number.NaN }],
  ['trigger', { trigger: '50%' }],
  ['seed', { seed: 5 }],
  ['clock', { clock: {} }],
  ['observers', { observers: {} }],
  ['limit', { limit: 5 }],
])('rejects an option by its name: %s', (name, options) => {
  expect(() => sketchInflight(options)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  expect(() => sketchInflight(options)).toThrow(name)
})
