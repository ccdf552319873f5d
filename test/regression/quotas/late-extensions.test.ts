import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { LateQuota } from '../../quotas/holds/late-quota.ts'

// an extension whose answer is late must be undone before the hold is settled, not after it

let late: LateQuota

beforeEach(() => {
  late = new LateQuota(200)
})
afterEach(() => late.close())

test.each(['slow', 'lost'] as const)(
  'a hold settled at once after an extension with a %s answer leaves nothing held',
  async (kind) => {
    const hold = await late.pass(late.limiter.hold('a', { reserve: 60 }), 10)
    await late.pass(undefined, 120_000)
    const other = await late.pass(late.limiter.hold('a', { reserve: 50 }), 10)
    late.fault = kind
    const extended = hold.extend(30)
    const settled = hold.settle(25)
    expect(await late.pass(extended, 60)).toBe(false)
    late.fault = 'none'
    await late.pass(settled, 500)
    for (let peeks = 0; peeks < 3; peeks++) await late.pass(late.limiter.peek('a'), 1_000)
    expect(await late.state()).toEqual([25, 50])
    // the hold of the other request is held until its own end
    await late.pass(undefined, 490_000)
    expect(await late.state()).toEqual([25, 50])
    await late.pass(other.settle(50), 10)
    expect(await late.state()).toEqual([75, 0])
  },
)
