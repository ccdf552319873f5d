import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { LateQuota } from './late-quota.ts'

let late: LateQuota

beforeEach(() => {
  late = new LateQuota(100)
})
afterEach(() => late.close())

test('a hold whose answer is too late is denied, and its units return at once', async () => {
  late.fault = 'slow'
  const hold = await late.pass(late.limiter.hold('a', { reserve: 60 }), 100)
  late.fault = 'none'
  await late.pass(undefined, 200)
  expect([hold.allowed, await late.state()]).toEqual([false, [0, 0]])
})

test('a hold whose extension is too late stays as it was', async () => {
  const hold = await late.pass(late.limiter.hold('a', { reserve: 60 }), 10)
  await late.pass(undefined, 60_000)
  late.fault = 'slow'
  expect(await late.pass(hold.extend(30), 100)).toBe(false)
  late.fault = 'none'
  await late.pass(undefined, 200)
  expect(await late.state()).toEqual([0, 60])
  await late.pass(hold.settle(25), 10)
  expect(await late.state()).toEqual([25, 0])
})

test('a settlement whose answer is late is spent once', async () => {
  const hold = await late.pass(late.limiter.hold('a', { reserve: 60 }), 10)
  late.fault = 'slow'
  await late.pass(hold.settle(25), 100)
  late.fault = 'none'
  for (let peeks = 0; peeks < 4; peeks++) await late.pass(late.limiter.peek('a'), 1_000)
  expect(await late.state()).toEqual([25, 0])
})

test('an adjustment that is repeated with its idempotency key settles once', async () => {
  const hold = await late.pass(late.limiter.hold('a', { reserve: 60 }), 10)
  const { quotas } = late
  const adjustAll = quotas.adjustAll.bind(quotas)
  let calls = 0
  // sends each adjustment twice, like a caller that has not received the first answer
  quotas.adjustAll = (...asked) => {
    calls++
    void adjustAll(...asked)
    return adjustAll(...asked)
  }
  await late.pass(hold.settle(25), 10)
  expect([calls, await late.state()]).toEqual([1, [25, 0]])
})
