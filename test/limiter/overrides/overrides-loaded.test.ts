import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { createLimiter, limitOverrides } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'
import { limited, loading, MINUTE, SECOND, settled } from './overridden.ts'

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

describe('loaded limits', () => {
  test('apply at once if they load synchronously', () => {
    const { limitOf, source } = loading({ key: 20 })
    expect([limitOf('key'), source.asked]).toEqual([20, 1])
  })

  test('apply once they are loaded; until then the limit of the policy applies', async () => {
    let answer: (limits: Record<string, number>) => void = () => {}
    const { limitOf } = loading(new Promise((resolve) => (answer = resolve)))
    expect(limitOf('key')).toBe(10)
    answer({ key: 20 })
    await settled()
    expect(limitOf('key')).toBe(20)
  })

  test('are loaded every minute by default', () => {
    const { clock, source } = loading({})
    clock.advance(MINUTE - 1)
    expect(source.asked).toBe(1)
    clock.advance(1)
    expect(source.asked).toBe(2)
    clock.advance(3 * MINUTE)
    expect(source.asked).toBe(5)
  })

  test('are loaded at the configured interval', () => {
    const { clock, source } = loading({}, { refreshMs: '1s' })
    clock.advance(5 * SECOND)
    expect(source.asked).toBe(6)
  })

  test('replace all previous limits', async () => {
    const { limitOf, next } = loading({ a: 20, b: 30 })
    await next(() => ({ b: 31, c: 40 }))
    expect(['a', 'b', 'c'].map(limitOf)).toEqual([10, 31, 40])
  })

  test('report their number, and how often loading failed', async () => {
    const { overrides, next } = loading({ a: 20, b: 30 })
    const lines = (): string[] =>
      prometheusText(overrides)
        .split('\n')
        .filter((line) => /^[a-z]/.test(line))
    expect(lines()).toEqual([
      'sluice_overrides 2',
      'sluice_overrides_loads_total{result="replaced"} 1',
      'sluice_overrides_loads_total{result="failed"} 0',
    ])
    await next(() => ({ a: 0 }))
    await next(() => Promise.reject(new Error('away')))
    expect(lines()).toEqual([
      'sluice_overrides 2',
      'sluice_overrides_loads_total{result="replaced"} 1',
      'sluice_overrides_loads_total{result="failed"} 2',
    ])
  })

  test('are cleared by an empty map', async () => {
    const { limitOf, next } = loading({ a: 20 })
    await next(() => ({}))
    expect(limitOf('a')).toBe(10)
    expect(warned).toEqual([])
  })

  test('apply to a policy that is added later', async () => {
    const { clock, overrides } = loading({ a: 20 })
    expect(limited(overrides, {}, clock).peek('a').binding.policy.limit).toBe(20)
  })

  test('do not change used units', () => {
    const { limiter, source, clock } = loading({ key: 20 }, { refreshMs: '1s' })
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
    ['a limit that is not a number', () => ({ key: 30, other: '30' })],
    ['a limit that is not whole', () => ({ key: 30, other: 1.5 })],
    ['NaN', () => ({ key: 30, other: Number.NaN })],
    ['a limit too large for a header', () => ({ key: 30, other: 1e15 })],
  ])('stay unchanged after %s, with one warning', async (_what, answer) => {
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

  test('stay unchanged if the algorithm rejects one of them', async () => {
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

  test('stay unchanged if one of them is too large for a log', () => {
    const clock = new FakeClock()
    let limits: Record<string, number> = { key: 128 }
    const limiter = limited(limitOverrides({ load: () => limits, clock }), { algorithm: 'sliding-log' }, clock)
    expect(limiter.peek('key').binding.policy.limit).toBe(128)
    limits = { key: 129 }
    clock.advance(MINUTE)
    expect(limiter.peek('key').binding.policy.limit).toBe(128)
  })

  test('stay unchanged if the backend rejects one of them', async () => {
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

  test('that are invalid for a policy added later apply only to the other policies', () => {
    const { clock, overrides, limitOf } = loading({ key: 200 })
    const log = limited(overrides, { algorithm: 'sliding-log' }, clock)
    expect([limitOf('key'), log.peek('key').binding.policy.limit]).toEqual([200, 10])
    expect(warned.map(({ code }) => code)).toEqual(['SLUICE_OVERRIDES_STALE'])
  })

  test('are not loaded twice at the same time, and a load that takes too long is warned about', async () => {
    let answer: (limits: Record<string, number>) => void = () => {}
    const { limitOf, source, clock } = loading(new Promise((resolve) => (answer = resolve)))
    clock.advance(2 * MINUTE)
    expect(source.asked).toBe(1)
    expect(warned).toMatchObject([{ message: expect.stringContaining('load did not finish within 60000 ms') }])
    answer({ key: 20 })
    await settled()
    expect(limitOf('key')).toBe(20)
    clock.advance(MINUTE)
    expect(source.asked).toBe(2)
  })

  test('are warned about without naming the key', async () => {
    const { next } = loading({})
    await next(() => ({ 'secret-api-key': 0 }))
    expect(JSON.stringify(warned)).not.toContain('secret')
  })

  test('are no longer loaded after close, but stay in effect', async () => {
    const { clock, overrides, limitOf, source } = loading({ key: 20 })
    overrides.close()
    expect(clock.pending).toBe(0)
    clock.advance(5 * MINUTE)
    expect([limitOf('key'), source.asked]).toEqual([20, 1])
  })

  test('that arrive after close have no effect', async () => {
    let answer: (limits: Record<string, number>) => void = () => {}
    const { limitOf, overrides } = loading(new Promise((resolve) => (answer = resolve)))
    overrides.close()
    answer({ key: 20 })
    await settled()
    expect(limitOf('key')).toBe(10)
  })

  test('do not keep the process alive', () => {
    const clock = new FakeClock()
    const after = jest.spyOn(clock, 'after')
    limitOverrides({ load: () => ({}), clock }).close()
    expect(after.mock.calls.map((call) => (call as unknown[])[2])).toEqual([undefined])
  })
})
