import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { createLimiter, type Decision, waitFor } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

function spent() {
  const clock = new FakeClock()
  const limiter = createLimiter({ policies: [{ limit: 2, window: '10s', algorithm: 'fixed-window' }], clock })
  limiter.take('key', 2)
  return { clock, limiter }
}

/** The state of a promise after all pending callbacks have run. */
async function stateOf(promise: Promise<Decision>): Promise<'waiting' | 'allowed' | 'denied' | string> {
  const state = promise.then(
    ({ allowed }) => (allowed ? 'allowed' : 'denied'),
    (error) => `rejected: ${error.message}`,
  )
  await turn()
  return Promise.race([state, turn('waiting')])
}

describe('waitFor', () => {
  test('takes immediately if the units fit', async () => {
    const { clock, limiter } = spent()
    expect(await waitFor(limiter, 'other', { maxWaitMs: '5s', clock })).toMatchObject({ allowed: true })
    expect(clock.pending).toBe(0)
  })

  test('takes at the ms at which the units fit, and not earlier', async () => {
    const { clock, limiter } = spent()
    const waiting = waitFor(limiter, 'key', { maxWaitMs: '10s', clock })
    await turn()
    clock.advance(9_999)
    expect(await stateOf(waiting)).toBe('waiting')
    clock.advance(1)
    expect(await stateOf(waiting)).toBe('allowed')
    expect([limiter.peek('key').binding.remaining, clock.pending]).toEqual([1, 0])
  })

  test('returns a denial immediately if waiting cannot succeed in time', async () => {
    const { clock, limiter } = spent()
    const decision = await waitFor(limiter, 'key', { maxWaitMs: '9999ms', clock })
    expect([decision.allowed, decision.retryAfterMs, clock.pending]).toEqual([false, 10_000, 0])
    expect(await waitFor(limiter, 'key', { maxWaitMs: '1d', cost: 3, clock })).toMatchObject({
      allowed: false,
      retryAfterMs: Number.POSITIVE_INFINITY,
    })
  })

  test('keeps waiting if another caller was faster, up to the total time allowed', async () => {
    const { clock, limiter } = spent()
    const waiting = waitFor(limiter, 'key', { maxWaitMs: '15s', clock })
    await turn()
    clock.advance(9_000)
    clock.after(1_000, () => limiter.take('key', 2))
    // the timer of the waiting caller is older and runs first, but its take runs one turn later
    clock.advance(1_000)
    expect(await stateOf(waiting)).toBe('denied')
    const long = waitFor(limiter, 'key', { maxWaitMs: '15s', clock })
    await turn()
    clock.advance(10_000)
    expect(await stateOf(long)).toBe('allowed')
  })

  test('admits as many at once as fit, and the others later', async () => {
    const { clock, limiter } = spent()
    const all = Array.from({ length: 5 }, () => waitFor(limiter, 'key', { maxWaitMs: '1h', clock }))
    const allowed: number[] = []
    for (const [index, one] of all.entries()) one.then(() => allowed.push(index))
    for (const expected of [2, 4, 5]) {
      await turn()
      clock.advance(10_000)
      await turn()
      expect(allowed.length).toBe(expected)
    }
  })

  test('rejects with the reason of an abort, takes nothing and leaves no timer', async () => {
    const { clock, limiter } = spent()
    const abort = new AbortController()
    const waiting = waitFor(limiter, 'key', { maxWaitMs: '10s', signal: abort.signal, clock })
    expect(await stateOf(waiting)).toBe('waiting')
    expect(clock.pending).toBe(1)
    abort.abort(new Error('gone'))
    expect(await stateOf(waiting)).toBe('rejected: gone')
    clock.advance(20_000)
    expect([limiter.peek('key').binding.remaining, clock.pending]).toEqual([2, 0])
  })

  test('does not ask the backend if it was aborted before', async () => {
    const { clock, limiter } = spent()
    const signal = AbortSignal.abort(new Error('gone'))
    await expect(waitFor(limiter, 'other', { maxWaitMs: '10s', signal, clock })).rejects.toThrow('gone')
    expect(limiter.peek('other').binding.remaining).toBe(2)
  })

  test('rejects immediately if it is aborted while the backend is asked', async () => {
    const clock = new FakeClock()
    const backend = new PromisedBackend(clock)
    const limiter = createLimiter({
      policies: [{ limit: 1, window: '10s', algorithm: 'fixed-window' }],
      backend,
      clock,
    })
    await limiter.take('key')
    const abort = new AbortController()
    const waiting = waitFor(limiter, 'key', { maxWaitMs: '10s', signal: abort.signal, clock })
    abort.abort(new Error('gone'))
    expect(await stateOf(waiting)).toBe('rejected: gone')
    limiter.close()
    expect(clock.pending).toBe(0)
  })

  test('leaves no listener on a signal that outlives it', async () => {
    const { clock, limiter } = spent()
    const abort = new AbortController()
    let listeners = 0
    const { signal } = abort
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = ((...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }) as typeof add
    signal.removeEventListener = ((...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    }) as typeof remove
    const waiting = waitFor(limiter, 'key', { maxWaitMs: '10s', signal, clock })
    await turn()
    clock.advance(10_000)
    await waiting
    expect(listeners).toBe(0)
  })

  test('rejects if the limiter rejects', async () => {
    const clock = new FakeClock()
    const down = async (): Promise<never> => {
      throw new Error('down')
    }
    const limiter = { take: down }
    await expect(waitFor(limiter, 'key', { maxWaitMs: '10s', clock })).rejects.toThrow('down')
  })

  test.each([
    [{}, 'SLUICE_BAD_DURATION'],
    [{ maxWaitMs: -60 }, 'SLUICE_BAD_DURATION'],
    [{ maxWaitMs: '1s', timeout: 5 }, 'SLUICE_BAD_OPTION'],
    [{ maxWaitMs: '1s', cost: -1 }, 'SLUICE_BAD_COST'],
  ])('rejects invalid options: %j', async (options, code) => {
    const { clock, limiter } = spent()
    await expect(waitFor(limiter, 'key', { ...options, clock } as never)).rejects.toMatchObject({ code })
  })
})
