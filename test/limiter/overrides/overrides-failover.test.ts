import { describe, expect, test } from '@jest/globals'
import { type BackendErrorRule, createLimiter, type Limiter, limitOverrides, memoryBackend } from '@sluice/limiter-core'
import { FakeClock, failingBackend } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'
import { endedAfterEach } from '../../services/for-tests.ts'

const open = endedAfterEach<Limiter>((limiter) => limiter.close())

const limits = { big: 20, small: 2 }

/** A limiter of 10 per minute on a backend that can be made to fail. */
function limited(onBackendError: BackendErrorRule = 'local') {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = new PromisedBackend(clock)
  const overrides = limitOverrides({ limits })
  const policies = [{ name: 'api', limit: 10, window: '1h', algorithm: 'fixed-window', overrides }] as const
  const limiter: Limiter = createLimiter({ policies, backend, clock, onBackendError })
  open.push(limiter)
  const passing = async (key: string): Promise<number> => {
    let passed = 0
    while (passed < 50 && (await limiter.take(key)).allowed) passed++
    return passed
  }
  return { clock, backend, limiter, passing }
}

describe('while the backend of a policy with overrides fails', () => {
  test('each key has its own limit in this process', async () => {
    const { backend, passing, limiter } = limited()
    backend.failure = new Error('down')
    expect([await passing('big'), await passing('small'), await passing('other')]).toEqual([20, 2, 10])
    expect(await limiter.take('big')).toMatchObject({
      counted: false,
      source: 'local',
      binding: { policy: { limit: 20 } },
    })
  })

  test('a key keeps its remaining units', async () => {
    const { backend, passing, limiter } = limited()
    await limiter.take('big', 15)
    await limiter.take('small', 2)
    backend.failure = new Error('down')
    expect([await passing('big'), await passing('small')]).toEqual([5, 0])
  })

  test('a share is computed from the limit of the key', async () => {
    const { backend, passing } = limited({ local: { share: 0.5 } })
    backend.failure = new Error('down')
    expect([await passing('big'), await passing('small'), await passing('other')]).toEqual([10, 1, 5])
  })

  test('once it recovers, it receives the units admitted during the outage', async () => {
    const { backend, passing, limiter, clock } = limited()
    backend.failure = new Error('down')
    for (let times = 0; times < 12; times++) await limiter.take('big')
    backend.failure = undefined
    clock.advance(30_000)
    await limiter.peek('big')
    await limiter.peek('big')
    expect(await passing('big')).toBe(8)
    expect(await limiter.peek('big')).toMatchObject({ counted: true, source: 'promised' })
  })

  test('a request is denied or allowed by the failure rule, with the limit of its key', async () => {
    const denied = limited('deny')
    denied.backend.failure = new Error('down')
    const decision = await denied.limiter.take('big')
    expect(decision).toMatchObject({ allowed: false, source: 'deny', binding: { policy: { limit: 20 } } })
    const allowed = limited('allow')
    allowed.backend.failure = new Error('down')
    expect(await allowed.limiter.take('small', 2)).toMatchObject({ allowed: true, source: 'allow' })
  })

  test('a refund is applied to the units that this process took', async () => {
    const { backend, limiter, passing } = limited()
    backend.failure = new Error('down')
    const taken = await limiter.take('big', 15)
    await limiter.charge('big', -15, taken)
    expect(await passing('big')).toBe(20)
  })

  test('several policies are charged all or none', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const overrides = limitOverrides({ limits })
    const dead = failingBackend(() => Promise.reject(new Error('down')))
    const limiter: Limiter = createLimiter({
      policies: [
        { name: 'far', limit: 10, window: '1h', algorithm: 'fixed-window', backend: dead, overrides },
        {
          name: 'near',
          limit: 5,
          window: '1h',
          algorithm: 'fixed-window',
          backend: memoryBackend({ clock }),
          overrides,
        },
      ],
      clock,
    })
    open.push(limiter)
    await limiter.take('small', 2)
    expect((await limiter.take('small')).allowed).toBe(false)
    await limiter.take('big', 18)
    const left = async (key: string) => (await limiter.peek(key)).verdicts.map(({ remaining }) => remaining)
    expect([await left('small'), await left('big'), await left('other')]).toEqual([
      [0, 0],
      [2, 2],
      [10, 5],
    ])
  })
})
