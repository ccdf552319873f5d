import { afterEach, describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import {
  closeBenches,
  closeBreaker,
  type FailoverBench,
  failoverBench,
  openBreaker,
  serverError,
  settled,
} from './flaky-backend.ts'

afterEach(closeBenches)

function events({ watcher }: FailoverBench, name: string): Readonly<Record<string, unknown>>[] {
  return watcher.events.filter((event) => event.name === name).map(({ data }) => data)
}

describe('an unavailable backend', () => {
  test('receives ten calls, then one probe a second, whatever the traffic', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    one.flaky.condition = serverError('CONNECTION')
    for (let taken = 0; taken < 50; taken++) await limiter.take(`key ${taken}`)
    expect(one.flaky.calls()).toEqual(Array(10).fill('take'))
    for (let ms = 0; ms < 5_000; ms += 5) {
      await limiter.take('key')
      one.clock.advance(5)
    }
    expect(one.flaky.calls()).toEqual(Array(4).fill('peek'))
  })

  test('is replaced by the rule synchronously, without a promise and without a timer', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    one.clock.advance(50)
    const decision = limiter.take('key')
    expect(decision).not.toBeInstanceOf(Promise)
    expect(decision).toMatchObject({ allowed: true, counted: false, source: 'local' })
    expect(limiter.take({ default: 'key' })).not.toBeInstanceOf(Promise)
    expect(limiter.peek('key')).not.toBeInstanceOf(Promise)
    expect(limiter.charge('key', 1)).not.toBeInstanceOf(Promise)
    expect(limiter.reset('key')).toBeUndefined()
    expect(one.clock.pending).toBe(0)
  })

  test('is probed in the background, even if a probe never settles', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    one.flaky.condition = 'silent'
    for (let second = 0; second < 3; second++) {
      one.clock.advance(1_000)
      expect(limiter.take('key')).not.toBeInstanceOf(Promise)
    }
    expect(one.flaky.heard.map(({ call, moment }) => [call, moment?.deadlineAt])).toEqual(
      Array(3).fill(['peek', undefined]),
    )
  })

  test('counts again from the second request after a probe was answered', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    one.flaky.condition = 'well'
    one.clock.advance(1_000)
    expect(await one.takes(limiter, 1)).toBe('+local')
    await settled()
    expect(await one.takes(limiter, 2)).toBe('+counted +counted')
  })

  test('is probed at once when its connection is restored', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    one.flaky.condition = 'well'
    one.flaky.tell('back')
    await limiter.take('key')
    await settled()
    expect(await one.takes(limiter, 1)).toBe('+counted')
  })

  test('is probed again at once if the process was stalled during the last probe', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    let wakeUp: (answer: unknown) => void = () => {}
    one.flaky.condition = () =>
      new Promise((resolve) => {
        wakeUp = resolve
      })
    one.clock.advance(1_000)
    await limiter.take('key')
    one.clock.advance(1_700)
    one.flaky.condition = 'well'
    wakeUp({})
    await settled()
    await limiter.take('key')
    await settled()
    expect(await one.takes(limiter, 1)).toBe('+counted')
  })

  test('receives no calls for another second if the trial call fails', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    // a probe reads, and reads succeed; the trial call writes, and writes fail
    one.flaky.condition = (call) => (call === 'peek' ? Promise.resolve({}) : Promise.reject(serverError('READONLY')))
    for (let second = 0; second < 3; second++) {
      one.clock.advance(1_000)
      await limiter.take('key')
      await settled()
      for (let taken = 0; taken < 5; taken++) await limiter.take('key')
    }
    expect(one.flaky.calls()).toEqual(['peek', 'take', 'peek', 'take', 'peek', 'take'])
  })

  test('receives one call at a time while the breaker is half-open', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    one.clock.advance(1_000)
    await limiter.take('key')
    await settled()
    one.flaky.calls()
    one.flaky.condition = 'silent'
    const trial = limiter.take('key')
    expect(await one.takes(limiter, 2)).toBe('+local +local')
    expect((await one.answered(trial)).counted).toBe(false)
    // the probe after a late trial
    expect(one.flaky.calls()).toEqual(['take', 'peek'])
  })

  test('has one breaker for all its limiters, and another backend has its own', async () => {
    const [one, other] = [failoverBench(), failoverBench()]
    const [mine, yours] = [one.limiter(), one.limiter('deny', { name: 'yours' })]
    await openBreaker(one, mine)
    expect(await one.takes(yours, 1)).toBe('-deny')
    expect(await other.takes(other.limiter(), 1)).toBe('+counted')
  })
})

describe('an error that concerns only one key', () => {
  test('is handled by the rule, and opens no breaker', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    one.flaky.condition = serverError('WRONGTYPE', { keyOnly: true })
    for (let taken = 0; taken < 40; taken++) await limiter.take('poisoned')
    expect(one.flaky.calls().length).toBe(40)
    expect(events(one, 'backendFailed').length).toBe(40)
    expect(events(one, 'breaker')).toEqual([])
  })

  test('counts as a successful trial call', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    one.clock.advance(1_000)
    await limiter.take('key')
    await settled()
    one.flaky.condition = serverError('WRONGTYPE', { keyOnly: true })
    await limiter.take('poisoned')
    expect(events(one, 'breaker').at(-1)).toMatchObject({ state: 'closed' })
  })

  test('counts as a successful probe', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    one.flaky.condition = serverError('WRONGTYPE', { keyOnly: true })
    one.clock.advance(1_000)
    await limiter.take('poisoned')
    await settled()
    one.flaky.condition = 'well'
    expect(await one.takes(limiter, 1)).toBe('+counted')
  })
})

describe('observers', () => {
  test('receive each failure with the backend, the operation and the cause', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    const error = serverError('OOM')
    one.flaky.condition = error
    await limiter.take('key')
    await limiter.peek('key')
    await limiter.charge('key', 1)
    await limiter.reset('key')
    expect(events(one, 'backendFailed')).toEqual(
      ['take', 'peek', 'adjust', 'reset'].map((operation) => ({ backend: 'flaky', operation, cause: 'OOM', error })),
    )
  })

  test.each<[string, () => unknown]>([
    ['LATE', () => new Promise(() => {})],
    ['ERROR', () => Promise.reject('no error at all')],
    ['ERROR', () => Promise.reject(undefined)],
    ['MALFORMED', () => undefined],
    ['EPIPE', () => Promise.reject(Object.assign(new Error(), { code: 'EPIPE' }))],
  ])('receive %s as the cause of a failure', async (cause, condition) => {
    const one = failoverBench()
    const limiter = one.limiter()
    one.flaky.condition = condition
    const taken = limiter.take('key')
    await settled()
    one.clock.advance(50)
    await taken
    expect(events(one, 'backendFailed')).toMatchObject([{ cause }])
  })

  test('receive each state of the breaker once, with the cause', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    await closeBreaker(one, limiter)
    const backend = { backend: 'flaky', cause: 'CONNECTION' }
    expect(events(one, 'breaker')).toEqual([
      { ...backend, state: 'open' },
      { ...backend, state: 'half-open' },
      { ...backend, state: 'closed' },
    ])
  })

  test('that throw are ignored, and change no answer', async () => {
    const one = failoverBench()
    const throws = (): never => {
      throw new Error('observer')
    }
    const limiter = createLimiter({
      policies: [{ limit: 2, window: '1m' }],
      backend: one.flaky,
      clock: one.clock,
      observers: [{ event: throws, decided: throws }],
    })
    one.flaky.condition = serverError('OOM')
    expect(await one.takes(limiter, 3)).toBe('+local +local -local')
    expect(one.warnings.codes.sort()).toEqual(['SLUICE_BACKEND_FAILED', 'SLUICE_OBSERVER_DROPPED'])
  })
})

describe('the log', () => {
  test('has a line after 2, 4, 8 and at last 64 seconds, with the number of uncounted requests since the previous line', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    one.flaky.condition = serverError('OOM', { keyOnly: true })
    for (let ms = 0; ms < 260_000; ms += 100) {
      await limiter.take('key')
      one.clock.advance(100)
    }
    // at 0, 2, 6, 14, 30, 62, 126, 190 and 254 s
    expect(one.warnings.codes).toEqual(Array(9).fill('SLUICE_BACKEND_FAILED'))
    expect(one.warnings.texts[0]).toBe(
      "backend 'flaky' failed: OOM: Error: OOM of a test; affected calls are answered without it (https://github.com/sluicejs/sluice/blob/main/docs/errors.md#sluice_backend_failed)",
    )
    expect(one.warnings.texts[1]).toContain('; affected calls are answered without it (20 since the last warning)')
  })

  test('is silent while there are no calls, and reports the recovery of the backend once', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    for (let taken = 0; taken < 90; taken++) await limiter.take('key')
    one.clock.advance(2_000)
    expect(one.warnings.codes).toEqual(['SLUICE_BACKEND_FAILED'])
    await closeBreaker(one, limiter) // its first call is made without the backend
    await limiter.take('key')
    expect(one.warnings.codes).toEqual(['SLUICE_BACKEND_FAILED', 'SLUICE_BACKEND_FAILED', 'SLUICE_BACKEND_RECOVERED'])
    expect(one.warnings.texts[2]).toContain(
      "backend 'flaky' recovered after 3000 ms; 101 calls were answered without it",
    )
  })
})

describe('a reset that failed', () => {
  test('stays pending if it fails again', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await one.takes(limiter, 4)
    const readonly = (): Promise<never> => Promise.reject(serverError('READONLY'))
    one.flaky.condition = readonly
    await limiter.reset('key')
    one.flaky.condition = (call) => (call === 'reset' ? readonly() : { verdicts: [] })
    await limiter.peek('key')
    await settled()
    one.flaky.condition = 'well'
    await limiter.peek('another key')
    await settled()
    expect((await limiter.peek('key')).binding.remaining).toBe(4)
  })

  test('is retried when the backend answers; at most the latest thousand resets are kept', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    for (let reset = 0; reset < 1_100; reset++) await limiter.reset(`key ${reset}`)
    await limiter.reset('key 600')
    await closeBreaker(one, limiter)
    one.flaky.heard.length = 0
    await limiter.take('key')
    await settled()
    expect(one.flaky.heard.map(({ call }) => call)).toEqual(['take'])
  })

  test('is retried in one call with the other pending resets, each key once, and again if that call fails', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    one.flaky.condition = (call) => (call === 'reset' ? Promise.reject(serverError('READONLY')) : Promise.reject(1))
    for (let reset = 0; reset < 1_001; reset++) await limiter.reset(`key ${reset}`)
    await limiter.reset('key 600')
    one.flaky.condition = 'well'
    await closeBreakerWatching(one, limiter)
    const resets = one.flaky.heard.filter(({ call }) => call === 'reset')
    expect(resets.length).toBe(1)
    const keys = resets[0].charges.map(({ key }) => key)
    expect([keys.length, new Set(keys).size, keys[0], keys.at(-1)]).toEqual([1_000, 1_000, 'key 1', 'key 600'])
  })
})

async function closeBreakerWatching(one: FailoverBench, limiter: ReturnType<FailoverBench['limiter']>): Promise<void> {
  one.flaky.heard.length = 0
  one.clock.advance(1_000)
  await limiter.take('key')
  await settled()
  await limiter.take('key')
  await settled()
}

describe('closing a limiter', () => {
  test('answers pending calls by the rule, stops the timer, and leaves backend and breaker untouched', async () => {
    const one = failoverBench()
    const [limiter, other] = [one.limiter(), one.limiter()]
    one.flaky.condition = 'silent'
    const waiting = Array.from({ length: 20 }, () => limiter.take('key'))
    limiter.close()
    const decisions = await Promise.all(waiting)
    expect(decisions.filter(({ allowed, source }) => allowed && source === 'local').length).toBe(4)
    expect(one.clock.pending).toBe(0)
    expect(events(one, 'backendFailed')).toEqual([])
    one.flaky.condition = 'well'
    expect(await one.takes(other, 1, 'another key')).toBe('+counted')
    expect(one.flaky.listeners).toBe(1)
    other.close()
    expect(one.flaky.listeners).toBe(0)
  })
})
