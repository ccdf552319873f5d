import { describe, expect, test } from '@jest/globals'
import { createLimiter, type LimiterOptions, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const api = { name: 'api', limit: 10, window: '1m' } as const
const burst = { name: 'burst', limit: 2, window: '1s', algorithm: 'fixed-window' } as const

function limiterOf(...policies: LimiterOptions['policies']) {
  const clock = new FakeClock()
  return { clock, limiter: createLimiter({ policies: policies as never, clock }) }
}

describe('createLimiter', () => {
  test('takes, peeks, charges and resets synchronously', () => {
    const { limiter, clock } = limiterOf(api)
    expect(limiter.take('key')).toMatchObject({ allowed: true, counted: true, source: 'memory', takenAt: 0 })
    expect(limiter.take('key', 9).binding.remaining).toBe(0)
    expect(limiter.take('key')).toMatchObject({ allowed: false })
    expect(limiter.peek('key').allowed).toBe(false)
    clock.advance(10)
    expect(limiter.charge('key', -3, 0).binding.remaining).toBe(3)
    limiter.reset('key')
    expect(limiter.peek('key', 10)).toMatchObject({ allowed: true, retryAfterMs: 0 })
  })

  test('accepts the options of one policy directly', () => {
    const clock = new FakeClock()
    const limiter = createLimiter({
      name: 'api',
      limit: 2,
      window: '1w',
      algorithm: 'fixed-window',
      clock,
      scope: 'one',
    })
    expect([1, 2, 3].map(() => limiter.take('key').allowed)).toEqual([true, true, false])
    expect(limiter.take('key').retryAfterMs).toBe(604_800_000)
    expect(limiter.policies).toEqual([{ name: 'api', algorithm: 'fixed-window', limit: 2, windowMs: 604_800_000 }])
  })

  test.each([
    [{ limit: 2 }, /window: expected a duration/],
    [{ limit: 2, window: '1m', policies: [api] }, /limit/],
    [{ limit: 2, window: '1m', windows: 1 }, /unknown option "windows"/],
    [{}, /policies: expected/],
    [undefined, /createLimiter: expected/],
  ])('refuses %j', (options, message) => {
    expect(() => createLimiter(options as never)).toThrow(message)
  })

  test('lists its policies in normalized form', () => {
    const { limiter } = limiterOf(api, { limit: 5, window: 2_000, algorithm: 'gcra', burst: 3, unit: 'tokens' })
    expect(limiter.policies).toEqual([
      { name: 'api', algorithm: 'sliding-log', limit: 10, windowMs: 60_000 },
      { name: 'default', algorithm: 'gcra', limit: 5, windowMs: 2_000, burst: 3, unit: 'tokens' },
    ])
  })

  test('charges all policies or none, and a denied request is not charged', () => {
    const { limiter } = limiterOf(api, burst)
    limiter.take('key')
    limiter.take('key')
    for (let tries = 0; tries < 5; tries++) {
      const { allowed, verdicts } = limiter.take('key')
      expect([allowed, verdicts.map((verdict) => [verdict.policy.name, verdict.allowed])]).toEqual([
        false,
        [
          ['api', true],
          ['burst', false],
        ],
      ])
    }
    expect(limiter.peek('key').verdicts[0].remaining).toBe(8)
  })

  test('counts each policy under its own key, if keys are given by policy', () => {
    const { limiter } = limiterOf(api, burst)
    limiter.take({ api: 'team', burst: 'ann' })
    limiter.take({ api: 'team', burst: 'bob' })
    const remaining = limiter.peek({ api: 'team', burst: 'bob' }).verdicts.map((verdict) => verdict.remaining)
    expect(remaining).toEqual([8, 1])
  })

  test('charges each policy its own cost, if costs are given by policy', () => {
    const { limiter } = limiterOf(api, burst)
    const { verdicts } = limiter.take('key', { api: 7, burst: 0 })
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([3, 2])
    limiter.charge('key', { api: -5, burst: 1 })
    expect(limiter.peek('key').verdicts.map(({ remaining }) => remaining)).toEqual([8, 1])
  })

  test.each([
    ['a policy without a key', { api: 'a' }, 1, 'SLUICE_BAD_KEY'],
    ['a key that is not a string', { api: 'a', burst: 7 }, 1, 'SLUICE_BAD_KEY'],
    ['an inherited key', Object.create({ api: 'a', burst: 'b' }), 1, 'SLUICE_BAD_KEY'],
    ['no key', undefined, 1, 'SLUICE_BAD_KEY'],
    ['null', null, 1, 'SLUICE_BAD_KEY'],
    ['a number', 42, 1, 'SLUICE_BAD_KEY'],
    ['a policy without a cost', 'a', { api: 1 }, 'SLUICE_BAD_COST'],
    ['a cost that is a string', 'a', 'two', 'SLUICE_BAD_COST'],
    ['a cost that is null', 'a', null, 'SLUICE_BAD_COST'],
  ])('rejects %s with an error code', (_, key, cost, code) => {
    const { limiter } = limiterOf(api, burst)
    expect(() => limiter.take(key as string, cost as number)).toThrow(expect.objectContaining({ code }))
    expect(() => limiter.peek(key as string, cost as number)).toThrow(expect.objectContaining({ code }))
  })

  test('rejects a key that is not a string, also with one policy', () => {
    const { limiter } = limiterOf(api)
    for (const key of [undefined, null, 7, Symbol('key'), {}]) {
      expect(() => limiter.take(key as string)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_KEY' }))
    }
  })

  test('treats hostile policy names as plain names', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const { limiter } = limiterOf({ ...burst, name }, api)
      expect(() => limiter.take({ api: 'a' })).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_KEY' }))
      expect(limiter.take(JSON.parse(`{"${name}": "a", "api": "b"}`)).allowed).toBe(true)
    }
  })

  test.each<[string, object, string, string]>([
    ['no policies', { policies: [] }, 'SLUICE_BAD_OPTION', 'at least one'],
    ['policies that are not an array', { policies: api }, 'SLUICE_BAD_OPTION', 'at least one'],
    ['an unknown option', { policies: [api], store: {} }, 'SLUICE_BAD_OPTION', '"store"'],
    ['an unknown option of a policy', { policies: [{ ...api, max: 5 }] }, 'SLUICE_BAD_OPTION', '"max"'],
    ['two policies of one name', { policies: [api, api] }, 'SLUICE_DUPLICATE_POLICY', "'api'"],
    [
      'two policies without a name',
      { policies: [unnamed(1), unnamed(2)] },
      'SLUICE_DUPLICATE_POLICY',
      'expected a name for each policy',
    ],
    ['an empty name', { policies: [{ ...api, name: '' }] }, 'SLUICE_BAD_NAME', '128'],
    ['a name with a line break', { policies: [{ ...api, name: 'a\r\nb' }] }, 'SLUICE_BAD_NAME', 'ASCII'],
    ['a name outside ASCII', { policies: [{ ...api, name: 'é' }] }, 'SLUICE_BAD_NAME', 'ASCII'],
    ['a name of 129 characters', { policies: [{ ...api, name: 'x'.repeat(129) }] }, 'SLUICE_BAD_NAME', '128'],
    ['a unit that is invalid in a header', { policies: [{ ...api, unit: '\0' }] }, 'SLUICE_BAD_NAME', 'unit'],
    ['a limit of 0', { policies: [{ ...api, limit: 0 }] }, 'SLUICE_BAD_LIMIT', 'received 0'],
    ['a fractional limit', { policies: [{ ...api, limit: 1.5 }] }, 'SLUICE_BAD_LIMIT', 'received 1.5'],
    ['a limit that is a string', { policies: [{ ...api, limit: '10' }] }, 'SLUICE_BAD_LIMIT', '"10"'],
    ['a limit of 16 digits', { policies: [{ ...api, limit: 1e15 }] }, 'SLUICE_BAD_LIMIT', '999999999999999'],
    ['a limit of NaN', { policies: [{ ...api, limit: Number.NaN }] }, 'SLUICE_BAD_LIMIT', 'NaN'],
    ['an unknown algorithm', { policies: [{ ...api, algorithm: 'leaky' }] }, 'SLUICE_BAD_POLICY', 'gcra'],
    ['an inherited algorithm', { policies: [{ ...api, algorithm: 'toString' }] }, 'SLUICE_BAD_POLICY', 'gcra'],
    ['a burst of a window', { policies: [{ ...api, burst: 3 }] }, 'SLUICE_BAD_POLICY', 'token-bucket'],
    ['slices of a bucket', { policies: [{ ...api, algorithm: 'gcra', slices: 3 }] }, 'SLUICE_BAD_POLICY', 'slices'],
    ['a window of 60', { policies: [{ ...api, window: 60 }] }, 'SLUICE_BAD_DURATION', 'received 60'],
    ['an invalid backend', { policies: [api], backend: {} }, 'SLUICE_BAD_OPTION', 'memoryBackend'],
    ['an invalid backend of a policy', { policies: [{ ...api, backend: 7 }] }, 'SLUICE_BAD_OPTION', "'api'"],
    ['an empty scope', { policies: [api], scope: '' }, 'SLUICE_BAD_NAME', 'scope'],
    ['a reserved scope', { policies: [api], scope: '#1' }, 'SLUICE_BAD_NAME', "'#'"],
    ['an unknown mode of a policy', { policies: [{ ...api, mode: 'on' }] }, 'SLUICE_BAD_OPTION', "'api'"],
    ['observers that are not an array', { policies: [api], observers: {} }, 'SLUICE_BAD_OPTION', 'observers'],
  ])('rejects %s at start-up, with an error code and the expected value', (_, options, code, part) => {
    expect(() => createLimiter(options as LimiterOptions)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(part) }),
    )
  })
})

describe('scopes', () => {
  const options = { policies: [{ name: 'api', limit: 2, window: '1m' }] } as const

  test('are separate for each limiter on the default backend', () => {
    const [a, b] = [createLimiter(options), createLimiter(options)]
    a.take('key', 2)
    expect([a.take('key').allowed, b.take('key').allowed]).toEqual([false, true])
  })

  test('are shared on the default backend if they are named', () => {
    const scope = 'create-limiter-test'
    const [a, b] = [createLimiter({ ...options, scope }), createLimiter({ ...options, scope })]
    a.take('key', 2)
    expect(b.take('key').allowed).toBe(false)
  })

  test('are the same for all limiters on an explicit backend, which share their counts', () => {
    const backend = memoryBackend()
    const [a, b] = [createLimiter({ ...options, backend }), createLimiter({ ...options, backend })]
    const apart = createLimiter({ ...options, backend, scope: 'other' })
    a.take('key', 2)
    expect([b.take('key').allowed, apart.take('key').allowed]).toEqual([false, true])
  })

  test('reject the same name with different options on one backend', () => {
    const backend = memoryBackend()
    createLimiter({ ...options, backend })
    const other = (more: object) => () =>
      createLimiter({ policies: [{ ...options.policies[0], ...more }], backend } as LimiterOptions)
    for (const more of [{ limit: 3 }, { window: '2m' }, { slices: 2 }, { algorithm: 'gcra' }]) {
      expect(other(more)).toThrow(
        expect.objectContaining({ code: 'SLUICE_DUPLICATE_POLICY', message: expect.stringContaining('scope') }),
      )
    }
    expect(other({ name: 'else', limit: 3 })).not.toThrow()
    expect(() => createLimiter({ policies: [{ ...options.policies[0], limit: 3 }], backend, scope: 'b' })).not.toThrow()
  })

  // scope.ts joins scope and policy with a slash that either may contain, so that two limiters share a count
  test('distinguish names with slashes', () => {
    const backend = memoryBackend()
    const one = createLimiter({ policies: [{ name: 'b', limit: 1, window: '1m' }], backend, scope: 'x/a' })
    const two = createLimiter({ policies: [{ name: 'a/b', limit: 1, window: '1m' }], backend, scope: 'x' })
    one.take('key')
    expect(two.take('key').allowed).toBe(true)
  })
})

function unnamed(limit: number) {
  return { limit, window: '1m' }
}

test('a closed limiter releases its names, so that another limiter may use them with different options', () => {
  const backend = memoryBackend()
  const of = (limit: number) => createLimiter({ policies: [{ name: 'api', limit, window: '1m' }], backend, scope: 'x' })
  const first = of(1)
  const second = of(1)
  first.close()
  first.close()
  expect(() => of(2)).toThrow('SLUICE_DUPLICATE_POLICY')
  second.close()
  expect(of(2).policies[0]?.limit).toBe(2)
})
