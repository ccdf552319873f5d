import { afterEach, describe, expect, test } from '@jest/globals'
import { createSluice, type FailoverOptions, rateLimit, slowDown } from '@sluice/express'
import { sluice } from '@sluice/fastify'
import { RateGate } from '@sluice/http'
import { createLimiter, type RequestView } from '@sluice/limiter-core'
import { fastify } from 'fastify'
import { closeBenches, failoverBench, serverError } from './flaky-backend.ts'

afterEach(closeBenches)

const policy = { limit: 2, window: '1m' } as const
const view: RequestView = { ip: '192.0.2.1', method: 'GET', route: '/', header: () => undefined, raw: {} }

/** Every place that accepts these options. */
const places: Readonly<Record<string, (options: FailoverOptions) => unknown>> = {
  createLimiter: (options) => createLimiter({ policies: [policy], ...options }),
  rateLimit: (options) => rateLimit({ ...policy, ...options }),
  slowDown: (options) => slowDown({ after: 1, window: '1m', delayMs: 5, maxDelayMs: 10, ...options }),
  createSluice: (options) => createSluice(options),
  'a limiter of createSluice': (options) => createSluice().limiter({ policies: [policy], ...options }),
  RateGate: (options) => new RateGate({ ...policy, ...options }),
}

describe.each(Object.entries(places))('%s', (_place, build) => {
  test.each([
    { onBackendError: 'open' },
    { onBackendError: null },
    { onBackendError: {} },
    { onBackendError: { local: {} } },
    { onBackendError: { local: { share: 0 } } },
    { onBackendError: { local: { share: 1.01 } } },
    { onBackendError: { local: { share: Number.NaN } } },
    { onBackendError: { local: { share: '1' } } },
    { onBackendError: { local: { share: 1 }, deny: true } },
    { onBackendError: { local: { share: 1, of: 2 } } },
  ])('rejects %j', (options) => {
    expect(() => build(options as FailoverOptions)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })

  test.each([0, 0.5, -1, 60_001, Number.NaN, '0ms', '2m', 'soon', null, {}])(
    'rejects a deadlineMs of %j',
    (deadline) => {
      const options = { deadlineMs: deadline } as FailoverOptions
      expect(() => build(options)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_DURATION' }))
    },
  )

  test.each<FailoverOptions>([
    { onBackendError: 'local' },
    { onBackendError: 'allow', deadlineMs: 1 },
    { onBackendError: 'deny', deadlineMs: '1s' },
    { onBackendError: { local: { share: 0.001 } }, deadlineMs: 60_000 },
    { onBackendError: undefined, deadlineMs: undefined },
  ])('accepts %j', (options) => {
    expect(() => build(options)).not.toThrow()
  })
})

describe('deadlineMs', () => {
  test.each([
    [undefined, 50],
    [7, 7],
    ['1s', 1_000],
  ] as const)('of %j waits %d ms', async (deadlineMs, ms) => {
    const one = failoverBench()
    const limiter = createLimiter({ policies: [policy], backend: one.flaky, clock: one.clock, deadlineMs })
    one.flaky.condition = 'silent'
    let counted: boolean | undefined
    const taken = Promise.resolve(limiter.take('key')).then((decision) => {
      counted = decision.counted
    })
    expect(one.flaky.heard[0].moment).toEqual({ now: 1_000, deadlineAt: 1_000 + ms })
    one.clock.advance(ms - 1)
    await new Promise(setImmediate)
    expect(counted).toBeUndefined()
    one.clock.advance(1)
    await taken
    expect(counted).toBe(false)
  })

  test('starts when the backend is called, however long the key function took', async () => {
    const one = failoverBench()
    const guard = new RateGate({
      ...policy,
      backend: one.flaky,
      clock: one.clock,
      key: async () => {
        one.clock.advance(5_000)
        return 'key'
      },
    })
    const check = await guard.check(view, { now: one.clock.now() })
    expect(check?.decision.counted).toBe(true)
    expect(one.flaky.heard[0].moment).toEqual({ now: 1_000, deadlineAt: 6_050 })
  })
})

describe('layers', () => {
  const denied = { onBackendError: 'deny', deadlineMs: 9 } as const

  test('below another layer inherit its rule, and can set their own rule for their own policies', async () => {
    const one = failoverBench()
    const above = new RateGate({ ...policy, name: 'all', backend: one.flaky, clock: one.clock, ...denied })
    const inherits = above.nested({ options: { ...policy, name: 'part' }, routeScope: 'a' })
    const says = above.nested({ options: { ...policy, name: 'part', onBackendError: 'allow' }, routeScope: 'b' })
    one.flaky.condition = serverError('OOM')
    const answers = [above, inherits, says].map(async (guard) => {
      const decision = (await guard.check(view))?.decision
      return [decision?.source, ...(decision?.verdicts ?? []).map(({ policy, allowed }) => `${policy.name} ${allowed}`)]
    })
    expect(await Promise.all(answers)).toEqual([
      ['deny', 'all false'],
      ['deny', 'all false', 'part false'],
      ['deny', 'all false', 'part true'],
    ])
  })

  test('send the policies of all layers to one backend in one call', async () => {
    const one = failoverBench()
    const above = new RateGate({ ...policy, name: 'all', backend: one.flaky, clock: one.clock })
    const below = above.nested({ options: { ...policy, name: 'part' }, routeScope: 'a' })
    expect((await below.check(view))?.decision.verdicts.map(({ policy: { name } }) => name)).toEqual(['all', 'part'])
    expect(one.flaky.calls()).toEqual(['take'])
  })

  test('of a Fastify application use the rule of its registration', async () => {
    const one = failoverBench()
    const app = fastify()
    await app.register(sluice, { rateLimit: policy, backend: one.flaky, clock: one.clock, ...denied })
    await app.register(async (child) => {
      child.get('/', { config: { sluice: { rateLimit: { ...policy, name: 'route' } } } }, async () => 'ok')
    })
    one.flaky.condition = serverError('OOM')
    expect((await app.inject('/')).statusCode).toBe(429)
    expect(one.flaky.heard[0].moment?.deadlineAt).toBe(1_009)
    await app.close()
  })
})

describe('createSluice', () => {
  test('passes its rule and its deadline to every limiter, which can override them', async () => {
    const one = failoverBench()
    const { limiter, rateLimit: limited } = createSluice({
      backend: one.flaky,
      clock: one.clock,
      onBackendError: 'deny',
      deadlineMs: 9,
    })
    one.flaky.condition = serverError('OOM')
    expect(await one.takes(limiter({ policies: [policy] }), 1)).toBe('-deny')
    expect(await one.takes(limiter({ policies: [policy], shared: true, onBackendError: 'allow' }), 1)).toBe('+allow')
    expect((await limited({ ...policy, scope: 'api' }).limiter.take('key')).source).toBe('deny')
    expect(one.flaky.heard.map(({ moment }) => moment?.deadlineAt)).toEqual([1_009, 1_009, 1_009])
  })
})
