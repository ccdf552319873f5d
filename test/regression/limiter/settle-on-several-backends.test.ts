import { afterEach, expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { createLimiter } from '@sluice/limiter-core'
import { closeBenches, FlakyBackend, failoverBench, serverError } from '../../failover/flaky-backend.ts'

afterEach(closeBenches)

/** Two backends, of which the second is down, and the units of 100 that the first has left. */
function twoBackends() {
  const one = failoverBench()
  const dead = new FlakyBackend(one.clock)
  dead.condition = serverError('CONNECTION')
  const policy = { limit: 100, window: '1m', algorithm: 'fixed-window' } as const
  const policies = [
    { ...policy, name: 'tokens', backend: one.flaky },
    { ...policy, name: 'calls', backend: dead },
  ]
  const limiter = createLimiter({ policies, clock: one.clock })
  const left = async (): Promise<number> => {
    const { verdicts } = await limiter.peek('key')
    expect(one.flaky.calls()).toEqual(['peek'])
    return verdicts[0].remaining
  }
  return { one, policies, limiter, left }
}

test('units counted by one backend are charged and refunded there while another one fails', async () => {
  const { one, limiter, left } = twoBackends()
  const taken = await limiter.take('key', 10)
  expect([taken.counted, taken.countedEach]).toEqual([false, [true, false]])
  expect(one.flaky.calls()).toEqual(['take'])
  const charged = await limiter.charge('key', 30, taken)
  expect([charged.counted, charged.countedEach]).toEqual([false, [true, false]])
  expect(one.flaky.calls()).toEqual(['adjust'])
  expect(await left()).toBe(60)
  await limiter.charge('key', -40, taken)
  expect(one.flaky.calls()).toEqual(['adjust'])
  expect(await left()).toBe(100)
})

test('units admitted by the rule for a failed backend are refunded by the rule while another backend counts', async () => {
  const { limiter } = twoBackends()
  const taken = await limiter.take('key', 10)
  await limiter.charge('key', -10, taken)
  expect((await limiter.peek('key')).verdicts[1].remaining).toBe(100)
})

test('one policy of several is settled where it was counted', async () => {
  const { one, policies, left } = twoBackends()
  const limiter = new RateGate({ policies, clock: one.clock }).limiter()
  const taken = await limiter.takeEach(['key', 'key'], [10, 10])
  await limiter.chargeOne(0, 'key', -10, taken)
  one.flaky.calls()
  expect(await left()).toBe(100)
})
