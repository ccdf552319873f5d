import { expect, test } from '@jest/globals'
import {
  createLimiter,
  type Decision,
  limitOverrides,
  type PolicyInput,
  type SyncLimiterOptions,
} from '@sluice/limiter-core'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { Operator } from '../../limiter/controls/controlled.ts'

const MINUTE = { name: 'minute', limit: 60, window: '1m' } as const
const HOUR = { name: 'hour', limit: 100, window: '1h', algorithm: 'fixed-window' } as const

function controlled(policies: readonly PolicyInput[]) {
  const operator = new Operator()
  const clock = new FakeClock()
  return { operator, clock, limiter: createLimiter({ policies, clock, observers: [operator] } as SyncLimiterOptions) }
}

const ALGORITHMS = ['gcra', 'token-bucket', 'fixed-window', 'sliding-window', 'sliding-log'] as const

test.each(ALGORITHMS)('a refund under another limit returns what was taken: %s', (algorithm) => {
  const { operator, limiter } = controlled([{ ...MINUTE, algorithm }])
  operator.setControls({ minute: { limit: 4 } })
  const taken = limiter.take('key', 3)
  expect(taken.binding.remaining).toBe(1)
  expect(limiter.charge('key', -3, taken).binding).toMatchObject({ remaining: 4, policy: { limit: 4 } })
})

test('a policy that was switched off during a take of several policies is not refunded', () => {
  const { operator, limiter } = controlled([{ ...MINUTE, algorithm: 'fixed-window' }, HOUR])
  limiter.take('key', 10)
  operator.setControls({ minute: { mode: 'off' } })
  const taken = limiter.take('key', 5)
  operator.release()
  limiter.charge('key', -5, taken)
  expect(limiter.peek('key').verdicts.map(({ remaining }) => remaining)).toEqual([50, 90])
})

test('a policy that was switched off during its take is not refunded', () => {
  const { operator, limiter } = controlled([{ ...MINUTE, algorithm: 'fixed-window' }])
  limiter.take('key', 10)
  operator.setControls({ minute: { mode: 'off' } })
  const taken = limiter.take('key', 5)
  operator.release()
  limiter.charge('key', -5, taken)
  limiter.charge('key', 3, taken)
  expect(limiter.peek('key').binding.remaining).toBe(50)
})

test('a limiter with an exempting policy can be changed, and switching it off is not an exemption', () => {
  const overrides = limitOverrides({ limits: { big: 9 }, others: 'exempt' })
  const { operator, limiter } = controlled([{ ...MINUTE, algorithm: 'fixed-window', overrides }])
  operator.setControls({ minute: { mode: 'off' } })
  const taken = limiter.take('big')
  operator.release()
  limiter.take('big', 4)
  limiter.charge('big', -1, taken)
  expect(limiter.peek('big').binding.remaining).toBe(5)
})

test('whatever changes while requests are in flight, refunds return exactly what was taken', () => {
  const random = seededRandom(20_261_123)
  for (const algorithm of ALGORITHMS) {
    const limit = 100
    const { operator, limiter } = controlled([
      { name: 'minute', limit, window: '1m', algorithm },
      { ...HOUR, limit: 20_000 },
    ])
    const underWay: { readonly decision: Decision; readonly cost: number }[] = []
    const changes = [
      {},
      { minute: { mode: 'off' } },
      { minute: { mode: 'shadow' } },
      { hour: { mode: 'off' } },
      { minute: { limit: 40 } },
    ] as const
    for (let n = 0; n < 2_000; n++) {
      if (n % 20 === 0) operator.setControls(random.pick(changes))
      const cost = 1 + random.whole(3)
      const decision = limiter.take('key', cost)
      if (decision.verdicts.every(({ allowed }) => allowed)) underWay.push({ decision, cost })
      while (underWay.length > 10) {
        const [done] = underWay.splice(random.whole(underWay.length - 1), 1)
        limiter.charge('key', -done.cost, done.decision)
      }
    }
    const left = underWay.flatMap(({ decision, cost }) =>
      decision.verdicts.map(({ policy }) => [policy.name, cost] as const),
    )
    operator.release()
    const taken = (name: string) => left.filter(([of]) => of === name).reduce((sum, [, cost]) => sum + cost, 0)
    expect(underWay.length).toBeGreaterThan(0)
    const remaining = limiter.peek('key').verdicts.map((verdict) => verdict.remaining)
    expect([algorithm, ...remaining]).toEqual([algorithm, limit - taken('minute'), 20_000 - taken('hour')])
  }
})
