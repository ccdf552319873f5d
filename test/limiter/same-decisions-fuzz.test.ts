import { expect, test } from '@jest/globals'
import {
  createLimiter,
  type Decision,
  type Hold,
  type Limiter,
  limitOverrides,
  type MaybePromise,
  memoryBackend,
  type PolicyInput,
} from '@sluice/limiter-core'
import { eachSeed, FakeClock, type SeededRandom, seededRandom } from '@sluice/testkit'
import { PromisedBackend } from '../contracts/async-backend.ts'
import { Operator } from './controls/controlled.ts'

// a limiter decides the same whether its backends answer at once or later: under holds, bans, overrides, booked turns,
// shadow mode and the changes of operators

const STEPS = 60
const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const
const KEYS = ['a', 'b', 'k'.repeat(200)]
/** Timers of holds are due at multiples of this time, so that calls of both limiters happen at the same time. */
const TICK_MS = 500

interface Side {
  readonly operator: Operator
  readonly limiter: Limiter
  readonly holds: Hold<MaybePromise<Decision>>[]
  readonly taken: { readonly key: string; readonly decision: Decision }[]
}

function banOf(random: SeededRandom): NonNullable<PolicyInput['ban']> {
  return {
    after: 2 + random.whole(3),
    within: '30s',
    for: '20s',
    ...(random.whole(2) === 0 && { growth: 2, max: '1m' }),
    ...(random.whole(3) === 0 && { strikes: 'failures' }),
    ...(random.whole(3) === 0 && { forgiveOn: 'success' }),
  }
}

function policyOf(random: SeededRandom, index: number): PolicyInput {
  const holds = index === 0 || random.whole(2) === 0
  const others = random.pick(['exempt', 'policy'] as const)
  return {
    name: `policy ${index}`,
    limit: 3 + random.whole(20),
    window: `${10 + random.whole(50)}s`,
    algorithm: random.pick(ALGORITHMS),
    ...(holds && { maxHoldMs: 8_000 + TICK_MS * random.whole(80) }),
    ...(random.whole(2) === 0 && { retry: 'booked' }),
    ...(random.whole(4) === 0 && { mode: 'shadow' }),
    ...(random.whole(3) === 0 && { overrides: limitOverrides({ limits: { a: 2 + random.whole(10) }, others }) }),
    ...(random.whole(2) === 0 && { ban: banOf(random) }),
  }
}

function sideOf(policies: readonly PolicyInput[], clock: FakeClock, isLater: boolean, isSplit: boolean): Side {
  const operator = new Operator()
  const backendOf = () => (isLater ? new PromisedBackend(clock) : memoryBackend({ clock }))
  const first = backendOf()
  const second = isSplit ? backendOf() : first
  const placed = policies.map((policy, index) => ({ ...policy, backend: index % 2 === 0 ? first : second }))
  const limiter = createLimiter({ policies: placed, clock, observers: [operator] }) as Limiter
  return { operator, limiter, holds: [], taken: [] }
}

/** Lets calls that no caller waits for end. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await undefined
}

async function shownOf(limiter: Limiter, key: string): Promise<unknown> {
  const { allowed, verdicts } = await limiter.peek(key)
  // sums of doubles may be rounded differently
  return {
    allowed,
    verdicts: verdicts.map((verdict) => ({ ...verdict, resetAfterMs: Math.round(verdict.resetAfterMs) })),
  }
}

function setControls({ operator }: Side, policies: readonly PolicyInput[], random: SeededRandom): void {
  const controls = policies.map(({ name, algorithm }) => {
    const mode = random.pick(['enforce', 'shadow', 'off', undefined] as const)
    // the usage of a bucket under another limit depends on whether its expired slot has been used again
    const limit = algorithm?.endsWith('-window') && random.whole(2) === 0 ? 1 + random.whole(20) : undefined
    return [name, { mode, limit }]
  })
  operator.setControls(Object.fromEntries(controls), random.whole(4) === 0 ? { a: 5_000 } : {})
}

/** Runs one random call. `random` is in the same state for both sides. */
async function call(side: Side, policies: readonly PolicyInput[], random: SeededRandom): Promise<unknown> {
  const { limiter, operator, holds, taken } = side
  const key = random.pick(KEYS)
  const kind = random.whole(11)
  const units = random.whole(5)
  const hold = holds.length > 0 ? random.pick(holds) : undefined
  if (kind <= 2) {
    const decision = await limiter.take(key, units)
    if (decision.allowed && decision.counted) taken.push({ key, decision })
    return decision.allowed
  }
  if (kind === 3) holds.push(await limiter.hold(key, { reserve: units + 1, maxMs: 2_000 + TICK_MS * random.whole(12) }))
  if (kind === 4) return hold?.extend(units)
  if (kind === 5) await hold?.settle(units)
  if (kind === 6 && taken.length > 0) {
    const one = random.pick(taken)
    await limiter.charge(one.key, units - 2, one.decision)
  }
  if (kind === 7) await limiter.report(key, random.pick(['success', 'failure'] as const))
  if (kind === 8) setControls(side, policies, random)
  if (kind === 9) operator.release()
  if (kind === 10 && random.whole(3) === 0) {
    await limiter.reset(key)
    holds.length = 0
  }
  return undefined
}

test('backends that answer at once and later lead to the same decisions', async () => {
  await eachSeed(40, async (random) => {
    const clock = new FakeClock({ nowMs: 100_000 })
    const policies = Array.from({ length: 1 + random.whole(3) }, (_, index) => policyOf(random, index))
    const isSplit = random.whole(3) === 0
    const sides = [sideOf(policies, clock, false, isSplit), sideOf(policies, clock, true, isSplit)]
    for (let step = 0; step < STEPS; step++) {
      const seed = random.whole(1e9)
      const [now, later] = await Promise.all(sides.map((side) => call(side, policies, seededRandom(seed))))
      await settled()
      expect(later).toEqual(now)
      for (const key of KEYS) {
        const [before, after] = await Promise.all(sides.map(({ limiter }) => shownOf(limiter, key)))
        expect(after).toEqual(before)
      }
      for (let ticks = random.whole(4) === 0 ? random.whole(24) : 0; ticks > 0; ticks--) {
        clock.advance(TICK_MS)
        await settled()
      }
    }
    for (const { limiter } of sides) await limiter.close()
  })
})
