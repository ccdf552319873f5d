import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LeaseGrant, LeasingBackend } from '@sluice/fleet/leases'
import { InflightGate, type RateCheck, RateGate, SlowDownGate } from '@sluice/http'
import {
  type Backend,
  type Charge,
  type CompiledPolicy,
  type Counter,
  createInflightLimiter,
  createLimiter,
  type InflightBackend,
  memoryBackend,
  type RequestView,
} from '@sluice/limiter-core'
import { GroupedBackend, RequestDecision } from '@sluice/limiter-core/backend'
import { redisBackend, redisInflight } from '@sluice/redis'
import { FakeClock, openedCounter, Warnings, Watcher } from '@sluice/testkit'
import { oddBackend } from '../../contracts/computed-backend.ts'

const warnings = new Warnings()
const unhandled: unknown[] = []
const hear = (reason: unknown): number => unhandled.push(reason)

beforeEach(() => {
  warnings.listen()
  process.on('unhandledRejection', hear)
})
afterEach(async () => {
  await new Promise(setImmediate)
  process.off('unhandledRejection', hear)
  warnings.stop()
  expect(unhandled.splice(0)).toEqual([])
})

const POLICY = { limit: 4, window: '1m', algorithm: 'fixed-window' } as const
const view: RequestView = { raw: {}, ip: '192.0.2.1', method: 'GET', route: '/', header: () => undefined }

type Verdict = Record<string, unknown>
type Answered = Record<string, unknown> & { verdicts: Verdict[] }

/** What a verdict contains. */
type Asked = Pick<Charge, 'advisory'> & { readonly counter: Pick<Counter, 'compiled'> }

/** A valid answer to the charges, which allows everything. */
function good(charges: readonly Asked[]): Answered {
  const numbers = { allowed: true, remaining: 1, retryAfterMs: 0, resetAfterMs: 1_000 }
  const verdicts = charges.map(({ counter: { compiled }, advisory }) => ({
    policy: compiled.policy,
    shadow: advisory === true,
    ...numbers,
  }))
  return { verdicts, takenAt: 0, counted: true, source: 'odd' }
}

const verdict =
  (change: Verdict) =>
  (answer: Answered): unknown => ({ ...answer, verdicts: answer.verdicts.map((one) => ({ ...one, ...change })) })

/** Answers that a third-party backend may return, made from a valid answer. */
const NONSENSE: Readonly<Record<string, (answer: Answered) => unknown>> = {
  nothing: () => undefined,
  null: () => null,
  'a number': () => 7,
  'a string': () => 'OK',
  'a function': () => () => {},
  'an empty object': () => ({}),
  'an empty list': () => [],
  'only the verdicts': ({ verdicts }) => verdicts,
  'missing verdicts': ({ verdicts: _none, ...rest }) => rest,
  'verdicts that are null': (answer) => ({ ...answer, verdicts: null }),
  'verdicts that are a string': (answer) => ({ ...answer, verdicts: 'x' }),
  'an empty list of verdicts': (answer) => ({ ...answer, verdicts: [] }),
  'an extra verdict': (answer) => ({ ...answer, verdicts: [...answer.verdicts, answer.verdicts[0]] }),
  'a verdict that is null': (answer) => ({ ...answer, verdicts: answer.verdicts.map(() => null) }),
  'a verdict that is a number': (answer) => ({ ...answer, verdicts: answer.verdicts.map(() => 1) }),
  'a sparse list of verdicts': (answer) => ({ ...answer, verdicts: new Array(answer.verdicts.length) }),
  'a verdict of another policy': verdict({ policy: { name: 'default', limit: 4, windowMs: 60_000 } }),
  'a verdict without a policy': verdict({ policy: undefined }),
  'a remaining of NaN': verdict({ remaining: Number.NaN }),
  'a remaining of -1': verdict({ remaining: -1 }),
  'a remaining of 0.5': verdict({ remaining: 0.5 }),
  'a remaining above the limit': verdict({ remaining: 1_000_000 }),
  'a remaining that is a string': verdict({ remaining: '1' }),
  'a missing remaining': verdict({ remaining: undefined }),
  'a retry time of NaN': verdict({ allowed: false, retryAfterMs: Number.NaN }),
  'a retry time of -1': verdict({ allowed: false, retryAfterMs: -1 }),
  'a retry time that is a string': verdict({ allowed: false, retryAfterMs: '1000' }),
  'a denial without a retry time': verdict({ allowed: false, retryAfterMs: undefined }),
  'a denial with a retry time of 0': verdict({ allowed: false, retryAfterMs: 0 }),
  'an allowed verdict with a retry time': verdict({ allowed: true, retryAfterMs: 1_000 }),
  'an allowed of 1': verdict({ allowed: 1 }),
  'a reset of NaN': verdict({ resetAfterMs: Number.NaN }),
  'an infinite reset': verdict({ resetAfterMs: Number.POSITIVE_INFINITY }),
  'a reset of -1': verdict({ resetAfterMs: -1 }),
  'a missing reset': verdict({ resetAfterMs: undefined }),
  'more after NaN': verdict({ availableAfterMs: Number.NaN }),
  'more after -1': verdict({ availableAfterMs: -1 }),
  'more after a string': verdict({ availableAfterMs: '1000' }),
  'more after null': verdict({ availableAfterMs: null }),
  'shadow for light, and light for shadow': (answer) => ({
    ...answer,
    verdicts: answer.verdicts.map((one) => ({ ...one, shadow: !one.shadow })),
  }),
  'a time of NaN': (answer) => ({ ...answer, takenAt: Number.NaN }),
  'a missing time': (answer) => ({ ...answer, takenAt: undefined }),
  'an answer without counted': (answer) => ({ ...answer, counted: undefined }),
  'an answer without a source': (answer) => ({ ...answer, source: undefined }),
  'times that are not a list': (answer) => ({ ...answer, takenAts: 5 }),
  'a time of NaN for each': (answer) => ({ ...answer, takenAts: answer.verdicts.map(() => Number.NaN) }),
  'one time too few': (answer) => ({ ...answer, takenAts: [] }),
  'invalid counted values': (answer) => ({ ...answer, countedEach: answer.verdicts.map(() => 'yes') }),
  'an object that throws on access': () =>
    new Proxy(
      {},
      {
        get(_target, name) {
          if (name === 'then') return undefined
          throw new Error('looked at')
        },
      },
    ),
}

/** How the answer is delivered. */
const WAYS: Readonly<Record<string, (answer: unknown) => unknown>> = {
  synchronously: (answer) => answer,
  'in a promise': (answer) => Promise.resolve(answer),
  'in a thenable that calls back twice': (answer) => ({
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    then(came: (value: unknown) => void) {
      came(answer)
      came(answer)
    },
  }),
}

interface Odd {
  readonly backend: Backend
  readonly watcher: Watcher
}

/** A backend that gives the same answer in every call. */
function odd(nonsense: (answer: Answered) => unknown, way: (answer: unknown) => unknown, more?: Partial<Backend>): Odd {
  return { backend: oddBackend((charges) => way(nonsense(good(charges))), more), watcher: new Watcher() }
}

/** A backend whose counters take in this way. */
function opening(take: (compiled: CompiledPolicy) => unknown): Pick<Backend, 'open'> {
  return { open: (compiled, name) => ({ compiled, name, take: () => take(compiled) as never }) }
}

function causes({ watcher }: Odd): unknown[] {
  return watcher.events.filter(({ name }) => name === 'backendFailed').map(({ data }) => data.cause)
}

describe.each(Object.entries(WAYS))('a backend that returns %s', (_way, way) => {
  test.each(Object.entries(NONSENSE))('%s is replaced by the failure rule in every call', async (what, nonsense) => {
    const one = odd(nonsense, way)
    const limiter = createLimiter({ policies: [POLICY], backend: one.backend, observers: [one.watcher] })
    const decisions = [
      await limiter.take('key'),
      await limiter.take({ default: 'key' }),
      await limiter.peek('key'),
      await limiter.charge('key', 1),
    ]
    expect(decisions).toMatchObject(
      [3, 2, 2, 1].map((remaining) => ({ allowed: true, counted: false, source: 'local', binding: { remaining } })),
    )
    expect(new Set(causes(one))).toEqual(new Set([what === 'an object that throws on access' ? 'ERROR' : 'MALFORMED']))
    await limiter.take('key')
    expect(await limiter.take('key')).toMatchObject({ allowed: false, counted: false })
  })

  test.each(Object.entries(NONSENSE))(
    '%s is replaced, too, if the backend answers synchronously',
    async (_what, nonsense) => {
      const one = odd(nonsense, way, { synchronous: true })
      const limiter = createLimiter({ policies: [POLICY], backend: one.backend })
      expect(await limiter.take('key')).toMatchObject({ allowed: true, counted: false, source: 'local' })
    },
  )

  test.each(Object.entries(NONSENSE))(
    '%s is replaced, too, for a single charge and for a request',
    async (_what, nonsense) => {
      const take = (compiled: CompiledPolicy): unknown => {
        const answer = nonsense(good([{ counter: { compiled } }]))
        const isAnswer = typeof answer === 'object' && answer !== null && Array.isArray((answer as Answered).verdicts)
        if (!isAnswer) return way(answer)
        // like a decision of a backend that did not check the answer
        return way(new RequestDecision(answer as never))
      }
      const one = odd(nonsense, way, opening(take))
      const rate = new RateGate({ ...POLICY, backend: one.backend, partitionKey: { secret: 'known to the servers' } })
      const { decision, entries } = (await rate.check(view)) as RateCheck<unknown, unknown>
      expect(decision).toMatchObject({ allowed: true, counted: false, source: 'local' })
      expect(entries[0].rateItems).toMatch(/^"default";r=3;t=60;pk=/)
      const slow = new SlowDownGate({ after: 1, window: '1m', delayMs: 10, maxDelayMs: 100, backend: one.backend })
      expect(await slow.check(view)).toMatchObject({ delayMs: 0, decision: { counted: false } })
      expect(await slow.check(view)).toMatchObject({ delayMs: 10, decision: { counted: false } })
    },
  )
})

describe('a backend next to another one', () => {
  const two = (backend: Backend) => [
    { ...POLICY, name: 'near', backend: memoryBackend() },
    { ...POLICY, name: 'far', backend },
  ]

  test.each(Object.entries(NONSENSE))('that returns %s does not change the other backend', async (_what, nonsense) => {
    const one = odd(nonsense, (answer) => Promise.resolve(answer))
    const limiter = createLimiter({ policies: two(one.backend), scope: 'api' })
    expect(await limiter.take('key')).toMatchObject({ allowed: true, countedEach: [true, false], counted: false })
    const peeked = await limiter.peek('key')
    expect(peeked.verdicts.map(({ remaining }) => remaining)).toEqual([3, 3])
  })

  test('is refunded if the other backend is part of a combined backend', () => {
    const memory = memoryBackend()
    const { backend } = odd(NONSENSE.null, (answer) => answer)
    const chargeOf = (home: Backend, name: string): Charge => {
      const policy = { name, algorithm: 'fixed-window', limit: 4, windowMs: 60_000 } as const
      return { key: 'key', counter: openedCounter(home, 'api', policy), cost: 1 }
    }
    const [near, far] = [chargeOf(memory, 'near'), chargeOf(backend, 'far')]
    const both = new GroupedBackend(
      new Map([
        [near.counter, memory],
        [far.counter, backend],
      ]),
    )
    expect(() => both.takeAll([near, far])).toThrow('invalid answer')
    expect(memory.peekAll([near])).toMatchObject({ verdicts: [{ remaining: 4 }] })
  })

  test('may omit charges after a denial, and no others', async () => {
    const first = (allowed: boolean) => (answer: Answered) => ({
      ...answer,
      verdicts: [{ ...answer.verdicts[0], allowed, retryAfterMs: allowed ? 0 : 500 }],
    })
    const policies = [
      { ...POLICY, name: 'a' },
      { ...POLICY, name: 'b' },
    ]
    const denying = createLimiter({ policies, backend: odd(first(false), (answer) => answer).backend })
    expect(await denying.take('key')).toMatchObject({ allowed: false, counted: true, retryAfterMs: 500 })
    const allowing = createLimiter({ policies, backend: odd(first(true), (answer) => answer).backend })
    expect(await allowing.take('key')).toMatchObject({ allowed: true, counted: false, source: 'local' })
  })
})

test('a valid answer is accepted, synchronous and asynchronous, and in shadow mode', async () => {
  for (const way of Object.values(WAYS)) {
    const one = odd((answer) => answer, way)
    for (const mode of ['enforce', 'shadow'] as const) {
      const limiter = createLimiter({
        shared: true,
        policies: [POLICY],
        backend: one.backend,
        mode,
        observers: [one.watcher],
      })
      expect(await limiter.take('key')).toMatchObject({ allowed: true, counted: true, source: 'odd' })
    }
    expect(causes(one)).toEqual([])
  }
})

test('a decision whose numbers differ from its verdicts is computed again from the verdicts', async () => {
  const take = (compiled: CompiledPolicy) => {
    const answer = good([{ counter: { compiled } }])
    return { ...answer, binding: answer.verdicts[0], allowed: false, retryAfterMs: Number.NaN }
  }
  const { backend } = odd(NONSENSE.null, (answer) => answer, opening(take))
  const limiter = createLimiter({ policies: [POLICY], backend })
  expect(await limiter.take('key')).toMatchObject({ allowed: true, retryAfterMs: 0, counted: true })
})

test('a backend that returns nonsense receives no more calls after ten answers, and is detected again', async () => {
  const clock = new FakeClock()
  let asked = 0
  let answersWell = false
  const backend = oddBackend((charges) => {
    asked++
    return answersWell ? good(charges) : 'OK'
  })
  const limiter = createLimiter({ policies: [{ ...POLICY, limit: 100 }], backend, clock })
  for (let take = 0; take < 50; take++) await limiter.take('key')
  expect(asked).toBe(10)
  answersWell = true
  clock.advance(1_000)
  for (let take = 0; take < 3; take++) await limiter.take('key')
  expect(await limiter.take('key')).toMatchObject({ counted: true, source: 'odd' })
})

describe('a ledger of leases', () => {
  const GRANTS: Readonly<Record<string, (grant: LeaseGrant) => unknown>> = {
    nothing: () => undefined,
    null: () => null,
    'a string': () => 'OK',
    'an empty list': () => [],
    'a list of null': () => [null],
    'a list of strings': () => ['10'],
    'more than requested': (grant) => [{ ...grant, granted: 1e9 }],
    'a grant of NaN': (grant) => [{ ...grant, granted: Number.NaN }],
    'a negative grant': (grant) => [{ ...grant, granted: -1 }],
    'a grant as a string': (grant) => [{ ...grant, granted: '10' }],
    'missing charged units': (grant) => [{ ...grant, charged: undefined }],
    'missing free units': (grant) => [{ ...grant, free: undefined }],
    'a retry time of NaN': (grant) => [{ ...grant, retryAfterMs: Number.NaN }],
    'an infinite reset': (grant) => [{ ...grant, resetAfterMs: Number.POSITIVE_INFINITY }],
    'less charged after NaN': (grant) => [{ ...grant, availableAfterMs: Number.NaN }],
    'a time of NaN': (grant) => [{ ...grant, now: Number.NaN }],
  }

  test.each(Object.entries(GRANTS))('that returns %s is replaced by the failure rule', async (_what, answer) => {
    for (const way of Object.values(WAYS)) {
      const grant = { granted: 1, free: 0, charged: 0, retryAfterMs: 0, resetAfterMs: 1_000, now: 0 }
      const ledger = { request: () => way(answer(grant)) as never }
      const { backend: exact } = odd(NONSENSE.null, (one) => one)
      const terms = { leaseMs: 2_000, fraction: 0.1 }
      const backend = new LeasingBackend({ name: 'leased', exact, ledger, terms })
      const policy = { limit: 100, window: '1m', algorithm: 'fixed-window' } as const
      const limiter = createLimiter({ policies: [policy], backend })
      const decisions = await Promise.all([limiter.take('key'), limiter.take('key'), limiter.take('other')])
      expect(decisions.map(({ allowed, counted, source }) => [allowed, counted, source])).toEqual(
        Array(3).fill([true, false, 'local']),
      )
      await backend.close()
    }
  })
})

describe('a backend of permits', () => {
  const PERMITS: Readonly<Record<string, () => unknown>> = {
    nothing: () => undefined,
    null: () => null,
    true: () => true,
    'a string': () => 'OK',
    'an empty object': () => ({}),
    'an allowed answer': () => ({ allowed: true }),
    'a denial of 0': () => ({ allowed: 0 }),
    'a permit whose release is not a function': () => ({ release: true }),
  }

  test.each(Object.entries(PERMITS))(
    'that returns %s counts as failed: the request passes, and the failure is reported',
    async (_what, make) => {
      for (const way of Object.values(WAYS)) {
        const watcher = new Watcher()
        const backend = { acquire: () => way(make()) } as InflightBackend
        const guard = new InflightGate({ limit: 1, backend, observers: [watcher] })
        expect(await guard.check(view)).toBeUndefined()
        expect(watcher.events).toMatchObject([{ name: 'backendFailed', data: { error: { code: 'MALFORMED' } } }])
        const limiter = createInflightLimiter({ limit: 1, backend, shared: true })
        await expect((async () => limiter.acquire('key'))()).rejects.toMatchObject({ code: 'MALFORMED' })
        await limiter.close()
      }
    },
  )
})

describe('a Redis', () => {
  const REPLIES: readonly unknown[] = [
    null,
    undefined,
    '',
    'OK',
    7,
    [],
    {},
    'NaN NaN NaN NaN',
    '1 2',
    [0, 0],
    '1 x y z',
  ]

  test.each(REPLIES)('that answers a script with %p is replaced by the failure rule', async (reply) => {
    const runner = { run: async () => reply }
    const policies = [{ ...POLICY }, { ...POLICY, name: 'second' }]
    for (const mine of [policies.slice(1), policies]) {
      const limiter = createLimiter({ policies: mine, backend: redisBackend(runner), shared: true })
      for (const call of [limiter.take('key'), limiter.peek('key'), limiter.charge('key', 1)]) {
        expect(await call).toMatchObject({ allowed: true, counted: false, source: 'local' })
      }
    }
    const cap = createInflightLimiter({ limit: 1, backend: redisInflight(runner) })
    expect(await cap.acquire('key')).toHaveProperty('release')
    expect(await cap.acquire('key')).toBeUndefined()
    expect(await cap.count('key')).toBe(1)
  })
})
