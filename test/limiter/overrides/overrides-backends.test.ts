import { describe, expect, test } from '@jest/globals'
import { MemorySyncLedger } from '@sluice/fleet/sync'
import { createLimiter, type Decision, type Limiter, limitOverrides } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PairedPrimary } from '../../cluster/paired.ts'
import { countingBackends, passing, syncedWith, TERMS } from '../counting-backends.ts'

describe.each(Object.entries(countingBackends))('overrides on %s', (_name, make) => {
  function opened(first: Record<string, number>) {
    const clock = new FakeClock({ nowMs: 1_000 })
    const source = { limits: first }
    // reloaded by hand: Redis has its own clock
    const timer = new FakeClock()
    const overrides = limitOverrides({ load: () => source.limits, clock: timer })
    const backend = make(clock)
    const policies = [{ name: 'api', limit: 10, window: '1h', algorithm: 'fixed-window', overrides }] as const
    // a real server has its own clock, and the first connection takes some time
    const limiter: Limiter = createLimiter({ policies, backend, deadlineMs: 5_000 })
    const change = (limits: Record<string, number>): void => {
      source.limits = limits
      timer.advance(60_000)
    }
    const close = async (): Promise<void> => {
      await limiter.close()
      overrides.close()
      await backend.close?.()
    }
    return { limiter, change, close }
  }

  test('let each key have its own limit', async () => {
    const { limiter, close } = opened({ big: 30, small: 2 })
    expect([await passing(limiter, 'big'), await passing(limiter, 'small'), await passing(limiter, 'other')]).toEqual([
      30, 2, 10,
    ])
    expect((await limiter.take('small')).binding.policy).toMatchObject({ name: 'api', limit: 2 })
    await close()
  })

  test('keep used units when the limit changes', async () => {
    const { limiter, change, close } = opened({ key: 30 })
    await limiter.take('key', 12)
    change({ key: 20 })
    expect(await passing(limiter, 'key')).toBe(8)
    change({ key: 25 })
    expect(await passing(limiter, 'key')).toBe(5)
    change({})
    expect((await limiter.take('key')).allowed).toBe(false)
    await close()
  })

  test('apply refunds to the count, whatever the current limit is', async () => {
    const { limiter, change, close } = opened({ key: 30 })
    const taken: Decision = await limiter.take('key', 12)
    change({ key: 20 })
    await limiter.charge('key', -12, taken)
    expect(await passing(limiter, 'key')).toBe(20)
    await close()
  })
})

test('a synced backend publishes the use of a key under each of its limits', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const ledger = new MemorySyncLedger(clock)
  const source: { limits: Record<string, number> } = { limits: { key: 300 } }
  const timer = new FakeClock()
  const overrides = limitOverrides({ load: () => source.limits, clock: timer })
  const nodes = [syncedWith(ledger, clock), syncedWith(ledger, clock)]
  const policies = [{ name: 'api', limit: 100, window: '1h', algorithm: 'fixed-window', overrides }] as const
  const [here, there]: Limiter[] = nodes.map((backend) => createLimiter({ policies, backend, shared: true }))
  const exchanged = async (): Promise<void> => {
    for (let ticks = 0; ticks < 40; ticks++) {
      clock.advance(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await here.take('key', 12)
  source.limits = { key: 200 }
  timer.advance(60_000)
  await here.take('key', 5)
  await exchanged()
  await there.take('key', 1)
  await exchanged()
  source.limits = {}
  timer.advance(60_000)
  await there.take('key', 2)
  await exchanged()
  expect((await there.peek('key')).binding.remaining).toBe(80)
  for (const limiter of [here, there]) await limiter.close()
  for (const backend of nodes) await backend.close?.()
  overrides.close()
})

describe('with leased units', () => {
  function leased(first: Record<string, number>) {
    const clock = new FakeClock({ nowMs: 1_000 })
    const source = { limits: first }
    const overrides = limitOverrides({ load: () => source.limits, clock, refreshMs: '1s' })
    const backend = new PairedPrimary(TERMS, clock).worker()
    const policies = [{ name: 'api', limit: 1_000, window: '1h', algorithm: 'fixed-window', overrides }] as const
    const limiter: Limiter = createLimiter({ policies, backend, clock })
    const change = (limits: Record<string, number>): void => {
      source.limits = limits
      clock.advance(1_000)
    }
    return { limiter, change, overrides, backend }
  }

  test('a small limit of one key does not affect the leases of other keys', async () => {
    const { limiter, backend, overrides } = leased({ small: 2, large: 2_000 })
    expect(await passing(limiter, 'small')).toBe(2)
    await passing(limiter, 'other')
    await passing(limiter, 'large')
    const answers = ['other', 'large', 'small'].map((key) => limiter.take(key))
    expect(answers.map((answer) => answer instanceof Promise)).toEqual([false, false, true])
    await Promise.all(answers)
    overrides.close()
    await limiter.close()
    await backend.close?.()
  })

  test('used units stay used when limits change between large and small', async () => {
    const { limiter, change, backend, overrides } = leased({ key: 2_000 })
    await passing(limiter, 'key', 60)
    change({})
    await passing(limiter, 'key', 40)
    expect((await limiter.peek('key')).binding).toMatchObject({ remaining: 900, policy: { limit: 1_000 } })
    change({ key: 20 })
    expect(await passing(limiter, 'key')).toBe(0)
    change({ key: 110 })
    expect(await passing(limiter, 'key')).toBe(10)
    overrides.close()
    await limiter.close()
    await backend.close?.()
  })
})
