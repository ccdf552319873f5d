import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import {
  type Backend,
  createLimiter,
  type Decision,
  type LimitOverrides,
  type LimitOverridesOptions,
  limitOverrides,
  memoryBackend,
  type SyncLimiterOptions,
} from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../contracts/promised-backend.ts'

const SECOND = 1_000
const MINUTE = 60_000

const warned: { message: string; code: string }[] = []

beforeEach(() => {
  warned.length = 0
  jest.spyOn(process, 'emitWarning').mockImplementation(((message: string, { code }: { code: string }) => {
    warned.push({ message, code })
  }) as typeof process.emitWarning)
})
afterEach(() => {
  jest.restoreAllMocks()
})

/** A limiter of 10 a minute, in memory. */
function limited(
  overrides: LimitOverrides,
  more: Partial<SyncLimiterOptions['policies'][number]> = {},
  clock: FakeClock = new FakeClock(),
) {
  return createLimiter({
    policies: [{ name: 'api', limit: 10, window: '1m', overrides, ...more }],
    backend: memoryBackend({ clock }),
    clock,
  })
}

/** Limits that a test changes, loaded each minute. */
function loading(first: unknown, more: Partial<LimitOverridesOptions> = {}) {
  const clock = new FakeClock()
  const source = { answer: (): unknown => first, asked: 0 }
  const load = (): never => {
    source.asked++
    return source.answer() as never
  }
  const overrides = limitOverrides({ load, clock, ...more } as LimitOverridesOptions)
  const limiter = limited(overrides, {}, clock)
  const limitOf = (key: string): number => limiter.peek(key).binding.policy.limit
  /** Moves on to the next load and past its answer. */
  const next = async (answer: () => unknown): Promise<void> => {
    source.answer = answer
    clock.advance(MINUTE)
    await settled()
  }
  return { clock, source, overrides, limiter, limitOf, next }
}

/** Promises that are settled have told so. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
}

/** How many takes of a key pass. */
function passing(take: () => Decision, most = 50): number {
  let passed = 0
  while (passed < most && take().allowed) passed++
  return passed
}

describe('a key with an override', () => {
  test('has its own limit, and all others that of the policy', () => {
    const limiter = limited(limitOverrides({ limits: { big: 20, small: 2 } }))
    expect(['big', 'small', 'other'].map((key) => passing(() => limiter.take(key)))).toEqual([20, 2, 10])
  })

  test('is shown in verdicts by a policy of the same name, algorithm and window', () => {
    const limiter = limited(limitOverrides({ limits: { big: 20 } }), { algorithm: 'fixed-window', unit: 'calls' })
    const { policy, remaining } = limiter.take('big').binding
    expect(policy).toEqual({ name: 'api', algorithm: 'fixed-window', limit: 20, windowMs: MINUTE, unit: 'calls' })
    expect(remaining).toBe(19)
    expect(limiter.take('other').binding.policy.limit).toBe(10)
  })

  test('says exactly when more fits', () => {
    const clock = new FakeClock()
    const limiter = limited(limitOverrides({ limits: { small: 1 } }), { algorithm: 'fixed-window' }, clock)
    limiter.take('small')
    expect(limiter.take('small')).toMatchObject({ allowed: false, retryAfterMs: MINUTE })
    clock.advance(MINUTE)
    expect(limiter.take('small').allowed).toBe(true)
  })

  test('may have the limit of the policy itself', () => {
    const limiter = limited(limitOverrides({ limits: { same: 10 } }))
    expect(passing(() => limiter.take('same'))).toBe(10)
  })

  test('may be called as a property of every object is', () => {
    const limits = JSON.parse('{"__proto__": 3}') as Record<string, number>
    const limiter = limited(limitOverrides({ limits }))
    expect(passing(() => limiter.take('__proto__'))).toBe(3)
    expect(passing(() => limiter.take('constructor'))).toBe(10)
  })

  test.each(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const)(
    'is counted by %s as a policy of that limit counts',
    (algorithm) => {
      const limiter = limited(limitOverrides({ limits: { big: 30, small: 2 } }), { algorithm })
      expect(['big', 'small', 'other'].map((key) => passing(() => limiter.take(key)))).toEqual([30, 2, 10])
    },
  )

  test('keeps the burst of the policy', () => {
    const limiter = limited(limitOverrides({ limits: { big: 60 } }), { algorithm: 'token-bucket', burst: 5 })
    expect(passing(() => limiter.take('big'))).toBe(5)
    expect(limiter.peek('big', 1).retryAfterMs).toBe(SECOND)
  })

  test('is reset, charged and peeked by its own limit', () => {
    const limiter = limited(limitOverrides({ limits: { big: 20 } }))
    limiter.charge('big', 15)
    expect(limiter.peek('big').binding.remaining).toBe(5)
    limiter.charge('big', -5)
    expect(limiter.peek('big').binding.remaining).toBe(10)
    limiter.reset('big')
    expect(limiter.peek('big').binding).toMatchObject({ remaining: 20, resetAfterMs: 0 })
  })

  test('is counted in shadow by its own limit, and denied by nobody', () => {
    const limiter = limited(limitOverrides({ limits: { small: 1 } }), { mode: 'shadow' })
    limiter.take('small')
    expect(limiter.take('small')).toMatchObject({ allowed: true, verdicts: [{ allowed: false, shadow: true }] })
  })

  test('is watched as any other', () => {
    const decided: [string, number][] = []
    const limiter = createLimiter({
      policies: [
        { name: 'api', limit: 10, window: '1m', overrides: limitOverrides({ limits: { big: 20 } }) },
        { name: 'all', limit: 100, window: '1m' },
      ],
      observers: [{ decided: (key, { binding }) => decided.push([key, binding.policy.limit]) }],
    })
    limiter.take({ api: 'big', all: 'everybody' }, 5)
    expect(decided).toEqual([['big', 20]])
    limiter.close()
  })
})

describe('a policy that names no algorithm', () => {
  test('is no log where limits may come that a log cannot keep', () => {
    const { limiter } = loading({})
    expect(limiter.policies[0].algorithm).toBe('sliding-window')
    const fixed = (limits: Record<string, number>) => limited(limitOverrides({ limits })).policies[0].algorithm
    expect([fixed({ a: 32 }), fixed({ a: 33 })]).toEqual(['sliding-log', 'sliding-window'])
  })

  test('as a log has the same places for all keys, so that use survives a change of limit', async () => {
    const clock = new FakeClock()
    let limits = { key: 5 }
    const overrides = limitOverrides({ load: () => limits, clock })
    const limiter = limited(overrides, { algorithm: 'sliding-log' }, clock)
    limiter.take('key', 4)
    limits = { key: 100 }
    clock.advance(MINUTE - 1)
    clock.advance(1)
    limiter.take('key', 4)
    limits = { key: 5 }
    clock.advance(MINUTE - 1)
    limiter.take('key', 0)
    expect(limiter.peek('key').binding.policy.limit).toBe(100)
    expect(limiter.peek('key').binding.remaining).toBe(96)
  })
})

describe('a hierarchical key', () => {
  const overrides = limitOverrides({
    limits: { tok: 20, 'tok:special': 30, '': 5, ':alice': 6, 'a:b': 7 },
    hierarchical: true,
  })
  const flat = limitOverrides({ limits: { tok: 20 } })

  test.each<[key: string, limit: number | undefined]>([
    ['tok', 20],
    ['tok:a', 20],
    ['tok:a:b', 20],
    ['tok:', 20],
    ['tok::', 20],
    ['tok:special', 30],
    ['tok:special:more', 20],
    ['tok:specialist', 20],
    ['token', undefined],
    ['token:a', undefined],
    ['to', undefined],
    ['TOK:a', undefined],
    [':alice', 6],
    [':bob', undefined],
    [':', undefined],
    ['', 5],
    ['a:b', 7],
    ['a:b:c', undefined],
    ['a', undefined],
    ['other:tok', undefined],
  ])('%j has the limit %s', (key, limit) => {
    expect(overrides.limitOf(key)).toBe(limit)
    expect(limited(overrides).peek(key).binding.policy.limit).toBe(limit ?? 10)
  })

  test('is counted by itself: only its limit is that of the part before', () => {
    const limiter = limited(overrides)
    expect(['tok', 'tok:a', 'tok:b'].map((key) => passing(() => limiter.take(key)))).toEqual([20, 20, 20])
  })

  test('is a key as any other where overrides are not hierarchical', () => {
    expect([flat.limitOf('tok'), flat.limitOf('tok:a')]).toEqual([20, undefined])
  })
})

describe('loaded limits', () => {
  test('hold at once where they are there at once', () => {
    const { limitOf, source } = loading({ key: 20 })
    expect([limitOf('key'), source.asked]).toEqual([20, 1])
  })

  test('hold once they are there, and until then the policy counts', async () => {
    let answer: (limits: Record<string, number>) => void = () => {}
    const { limitOf } = loading(new Promise((resolve) => (answer = resolve)))
    expect(limitOf('key')).toBe(10)
    answer({ key: 20 })
    await settled()
    expect(limitOf('key')).toBe(20)
  })

  test('are loaded every minute unless said otherwise', () => {
    const { clock, source } = loading({})
    clock.advance(MINUTE - 1)
    expect(source.asked).toBe(1)
    clock.advance(1)
    expect(source.asked).toBe(2)
    clock.advance(3 * MINUTE)
    expect(source.asked).toBe(5)
  })

  test('are loaded as often as said', () => {
    const { clock, source } = loading({}, { everyMs: '1s' })
    clock.advance(5 * SECOND)
    expect(source.asked).toBe(6)
  })

  test('replace all of those before', async () => {
    const { limitOf, next } = loading({ a: 20, b: 30 })
    await next(() => ({ b: 31, c: 40 }))
    expect(['a', 'b', 'c'].map(limitOf)).toEqual([10, 31, 40])
  })

  test('are cleared by an empty map', async () => {
    const { limitOf, next } = loading({ a: 20 })
    await next(() => ({}))
    expect(limitOf('a')).toBe(10)
    expect(warned).toEqual([])
  })

  test('may go to a policy that joins later', async () => {
    const { clock, overrides } = loading({ a: 20 })
    expect(limited(overrides, {}, clock).peek('a').binding.policy.limit).toBe(20)
  })

  test('leave what is used as it is', () => {
    const { limiter, source, clock } = loading({ key: 20 }, { everyMs: '1s' })
    const left = (limit: number): number => {
      source.answer = () => ({ key: limit })
      clock.advance(SECOND)
      return limiter.peek('key').binding.remaining
    }
    limiter.take('key', 15)
    expect([16, 12, 40, 20].map(left)).toEqual([1, 0, 25, 5])
  })

  test.each<[what: string, answer: () => unknown]>([
    [
      'an error',
      () => {
        throw new Error('no database')
      },
    ],
    ['a rejection', () => Promise.reject(new Error('no database'))],
    ['undefined', () => undefined],
    ['null', () => null],
    ['a promise of undefined', () => Promise.resolve(undefined)],
    ['a list', () => [20]],
    ['a Map', () => new Map([['key', 30]])],
    ['a text', () => '{"key": 30}'],
    ['a limit of 0', () => ({ key: 30, other: 0 })],
    ['a negative limit', () => ({ key: 30, other: -1 })],
    ['a limit that is no number', () => ({ key: 30, other: '30' })],
    ['a limit that is not whole', () => ({ key: 30, other: 1.5 })],
    ['NaN', () => ({ key: 30, other: Number.NaN })],
    ['a limit that no header can carry', () => ({ key: 30, other: 1e15 })],
  ])('stay as they were after %s, about which one line warns', async (_what, answer) => {
    const { limitOf, next, source } = loading({ key: 20 })
    await next(answer)
    await next(answer)
    expect([limitOf('key'), limitOf('other'), source.asked]).toEqual([20, 10, 3])
    expect(warned.map(({ code }) => code)).toEqual(['SLUICE_OVERRIDES_STALE'])
    await next(() => ({ key: 30 }))
    expect(limitOf('key')).toBe(30)
    await next(answer)
    expect(warned).toHaveLength(2)
  })

  test('stay as they were where the algorithm refuses one of them', async () => {
    const clock = new FakeClock()
    let limits: Record<string, number> = { key: 20 }
    const overrides = limitOverrides({ load: () => limits, clock })
    const limiter = limited(overrides, { window: '1s', algorithm: 'gcra' }, clock)
    const other = limited(overrides, {}, clock)
    limits = { key: 30, flood: 2_000 }
    clock.advance(MINUTE)
    expect([limiter, other].map((one) => one.peek('key').binding.policy.limit)).toEqual([20, 20])
    expect(warned).toMatchObject([{ message: expect.stringContaining('gcra') }])
  })

  test('stay as they were where a log has no place for one of them', () => {
    const clock = new FakeClock()
    let limits: Record<string, number> = { key: 128 }
    const limiter = limited(limitOverrides({ load: () => limits, clock }), { algorithm: 'sliding-log' }, clock)
    expect(limiter.peek('key').binding.policy.limit).toBe(128)
    limits = { key: 129 }
    clock.advance(MINUTE)
    expect(limiter.peek('key').binding.policy.limit).toBe(128)
  })

  test('stay as they were where the backend refuses one of them', async () => {
    const clock = new FakeClock()
    const backend = new PromisedBackend(clock)
    const open = backend.open.bind(backend)
    backend.open = (compiled, name) => {
      if (compiled.policy.limit > 100) throw new Error('too large for this backend')
      return open(compiled, name)
    }
    let limits: Record<string, number> = { key: 20 }
    const overrides = limitOverrides({ load: () => limits, clock })
    const policies = [{ name: 'api', limit: 10, window: '1m', backend, overrides }] as const
    const limiter = createLimiter({ policies, clock })
    limits = { key: 200 }
    clock.advance(MINUTE)
    expect((await limiter.peek('key')).binding.policy.limit).toBe(20)
    limits = { key: 30 }
    clock.advance(MINUTE)
    expect((await limiter.peek('key')).binding.policy.limit).toBe(30)
  })

  test('which a policy that joins cannot have are those of others alone, and it counts by its own', () => {
    const { clock, overrides, limitOf } = loading({ key: 200 })
    const log = limited(overrides, { algorithm: 'sliding-log' }, clock)
    expect([limitOf('key'), log.peek('key').binding.policy.limit]).toEqual([200, 10])
    expect(warned.map(({ code }) => code)).toEqual(['SLUICE_OVERRIDES_STALE'])
  })

  test('are not asked for twice at once, and one that takes too long is warned about', async () => {
    let answer: (limits: Record<string, number>) => void = () => {}
    const { limitOf, source, clock } = loading(new Promise((resolve) => (answer = resolve)))
    clock.advance(2 * MINUTE)
    expect(source.asked).toBe(1)
    expect(warned).toMatchObject([{ message: expect.stringContaining('no answer within 60000 ms') }])
    answer({ key: 20 })
    await settled()
    expect(limitOf('key')).toBe(20)
    clock.advance(MINUTE)
    expect(source.asked).toBe(2)
  })

  test('are warned about without a word of whose limit it is', async () => {
    const { next } = loading({})
    await next(() => ({ 'secret-api-key': 0 }))
    expect(JSON.stringify(warned)).not.toContain('secret')
  })

  test('are loaded no more once they are closed, and stay', async () => {
    const { clock, overrides, limitOf, source } = loading({ key: 20 })
    overrides.close()
    expect(clock.pending).toBe(0)
    clock.advance(5 * MINUTE)
    expect([limitOf('key'), source.asked]).toEqual([20, 1])
  })

  test('that come after closing change nothing', async () => {
    let answer: (limits: Record<string, number>) => void = () => {}
    const { limitOf, overrides } = loading(new Promise((resolve) => (answer = resolve)))
    overrides.close()
    answer({ key: 20 })
    await settled()
    expect(limitOf('key')).toBe(10)
  })

  test('keep no process alive', () => {
    const clock = new FakeClock()
    const after = jest.spyOn(clock, 'after')
    limitOverrides({ load: () => ({}), clock }).close()
    expect(after.mock.calls.map((call) => (call as unknown[])[2])).toEqual([undefined])
  })
})

describe('keys without an override', () => {
  test('pass uncounted where they are exempt', () => {
    const limiter = limited(limitOverrides({ limits: { small: 2 }, others: 'exempt' }))
    expect(passing(() => limiter.take('other'))).toBe(50)
    expect(limiter.take('other')).toMatchObject({ allowed: true, counted: false, source: 'exempt' })
    expect(limiter.peek('other')).toMatchObject({ allowed: true, counted: false })
    expect(passing(() => limiter.take('small'))).toBe(2)
  })

  test('that are exempt are charged nothing', () => {
    const limits = { key: 5 }
    const clock = new FakeClock()
    let now: Record<string, number> = {}
    const overrides = limitOverrides({ load: () => now, clock, others: 'exempt' })
    const limiter = limited(overrides, {}, clock)
    limiter.charge('key', 4)
    limiter.take('key', 4)
    now = limits
    clock.advance(MINUTE)
    expect(limiter.peek('key').binding).toMatchObject({ remaining: 5, policy: { limit: 5 } })
  })

  test('that were exempt get nothing back for what they were not charged', () => {
    const clock = new FakeClock()
    let limits: Record<string, number> = {}
    const overrides = limitOverrides({ load: () => limits, clock, others: 'exempt', everyMs: '1s' })
    const limiter = limited(overrides, {}, clock)
    const free = limiter.take('key', 4)
    limits = { key: 5 }
    clock.advance(SECOND)
    limiter.take('key', 5)
    limiter.charge('key', -4, free)
    expect(limiter.take('key').allowed).toBe(false)
  })

  test('are exempt from that policy alone, of which the decision says nothing', () => {
    const limiter = createLimiter({
      policies: [
        {
          name: 'few',
          limit: 100,
          window: '1m',
          overrides: limitOverrides({ limits: { small: 1 }, others: 'exempt' }),
        },
        { name: 'all', limit: 3, window: '1m' },
      ],
    })
    expect(limiter.take('other').verdicts.map(({ policy }) => policy.name)).toEqual(['all'])
    expect(passing(() => limiter.take('other'))).toBe(2)
    expect(passing(() => limiter.take('small'))).toBe(1)
    limiter.close()
  })
})

describe('several policies of which one has overrides', () => {
  test('take all or none', () => {
    const limiter = createLimiter({
      policies: [
        { name: 'a', limit: 10, window: '1m', overrides: limitOverrides({ limits: { small: 2 } }) },
        { name: 'b', limit: 10, window: '1m' },
      ],
    })
    const left = () => limiter.peek('small').verdicts.map(({ remaining }) => remaining)
    limiter.take('small', 2)
    expect(limiter.take('small')).toMatchObject({ allowed: false, binding: { policy: { name: 'a', limit: 2 } } })
    expect(left()).toEqual([0, 8])
    limiter.close()
  })

  test('take all or none over several backends', async () => {
    const clock = new FakeClock()
    const far = new PromisedBackend(clock)
    const near = memoryBackend({ clock })
    const overrides = limitOverrides({ limits: { small: 2, big: 30 } })
    const limiter = createLimiter({
      policies: [
        { name: 'far', limit: 10, window: '1m', algorithm: 'fixed-window', backend: far, overrides },
        { name: 'near', limit: 20, window: '1m', algorithm: 'fixed-window', backend: near, overrides },
      ],
      clock,
    })
    const left = async (key: string) => (await limiter.peek(key)).verdicts.map(({ remaining }) => remaining)
    await limiter.take('small', 2)
    expect(await limiter.take('small')).toMatchObject({ allowed: false })
    await limiter.take('big', 25)
    const first = await limiter.take('other')
    expect([await left('small'), await left('big'), await left('other')]).toEqual([
      [0, 0],
      [5, 5],
      [9, 19],
    ])
    await limiter.charge('other', -1, first)
    await limiter.reset('big')
    expect([await left('big'), await left('other')]).toEqual([
      [30, 30],
      [10, 20],
    ])
    limiter.close()
  })
})

describe('a decision whose key has another limit by now', () => {
  const cases: [from: Record<string, number>, to: Record<string, number>, left: number][] = [
    [{ key: 20 }, { key: 30 }, 25],
    [{ key: 20 }, { key: 6 }, 1],
    [{ key: 20 }, {}, 5],
    [{}, { key: 20 }, 15],
  ]
  test.each(cases)('from %j to %j is refunded to the same count', (from, to, left) => {
    const clock = new FakeClock()
    let limits = from
    const overrides = limitOverrides({ load: () => limits, clock, everyMs: '1s' })
    const limiter = limited(overrides, { algorithm: 'fixed-window' }, clock)
    limiter.take('key', 5)
    const taken = limiter.take('key', 4)
    limits = to
    clock.advance(SECOND)
    limiter.charge('key', -4, taken)
    expect(limiter.peek('key').binding.remaining).toBe(left)
  })

  test('is refunded though its key is exempt by now', () => {
    const clock = new FakeClock()
    let limits: Record<string, number> = { key: 5 }
    const overrides = limitOverrides({ load: () => limits, clock, everyMs: '1s', others: 'exempt' })
    const limiter = limited(overrides, { algorithm: 'fixed-window' }, clock)
    const taken = limiter.take('key', 5)
    limits = {}
    clock.advance(SECOND)
    limiter.charge('key', -5, taken)
    limits = { key: 5 }
    clock.advance(SECOND)
    expect(limiter.peek('key').binding.remaining).toBe(5)
  })
})

describe('closing a limiter', () => {
  test('closes a counter for each limit, each of which was opened once', () => {
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
    [undefined, 'SLUICE_BAD_OPTION', 'limitOverrides: got undefined, expected an object of options'],
    [{}, 'SLUICE_BAD_OPTION', 'limitOverrides: got neither, expected load or limits'],
    [{ limits: {}, load: () => ({}) }, 'SLUICE_BAD_OPTION', 'limitOverrides: got both, expected load or limits'],
    [{ limits: {}, everyMs: '1m' }, 'SLUICE_BAD_OPTION', 'got an unknown option "everyMs"'],
    [{ limits: {}, every: '1m' }, 'SLUICE_BAD_OPTION', 'got an unknown option "every"'],
    [{ limits: [] }, 'SLUICE_BAD_OPTION', 'limitOverrides: limits: got an array of 0, expected an object'],
    [
      { limits: { key: 0 } },
      'SLUICE_BAD_LIMIT',
      "limitOverrides: a key's limit: got 0, expected a whole number from 1",
    ],
    [{ load: {} }, 'SLUICE_BAD_OPTION', 'limitOverrides: load: got an object, expected a function'],
    [{ limits: {}, hierarchical: 1 }, 'SLUICE_BAD_OPTION', 'hierarchical: got a number, expected true or false'],
    [{ limits: {}, others: 'deny' }, 'SLUICE_BAD_OPTION', `others: got "deny", expected one of 'policy', 'exempt'`],
    [{ load: () => ({}), everyMs: 60 }, 'SLUICE_BAD_DURATION', 'limitOverrides: everyMs: got 60, expected'],
    [{ load: () => ({}), everyMs: '999ms' }, 'SLUICE_BAD_DURATION', 'everyMs: got "999ms", expected 1000 to'],
    [{ load: () => ({}), everyMs: '30d' }, 'SLUICE_BAD_DURATION', 'everyMs: got "30d", expected 1000 to'],
    [{ load: () => ({}), clock: {} }, 'SLUICE_BAD_OPTION', 'clock: got an object, expected a clock'],
  ])('%j: %s', (options, code, message) => {
    expect(() => untyped(options)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }))
  })

  test('are no overrides of a policy by themselves', () => {
    const overrides = { limits: { key: 20 } } as unknown as LimitOverrides
    expect(() => limited(overrides)).toThrow(
      "policy 'api': overrides: got an object, expected what limitOverrides({ … })",
    )
  })

  test('with limits that the policy cannot have are refused when the limiter is built, which leaves nothing behind', () => {
    const overrides = limitOverrides({ limits: { key: 2_000 } })
    const backend = memoryBackend()
    const policies = [{ name: 'api', limit: 10, window: '1s', algorithm: 'gcra', overrides }] as const
    expect(() => createLimiter({ policies, backend })).toThrow('gcra spaces units by whole ms')
    createLimiter({ policies: [{ name: 'api', limit: 11, window: '1s' }], backend }).close()
  })
})
