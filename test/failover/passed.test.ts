import { afterEach, describe, expect, test } from '@jest/globals'
import {
  type Answer,
  type Backend,
  type BackendErrorRule,
  type Charge,
  createLimiter,
  type Limiter,
  type PolicyInput,
} from '@sluice/limiter-core'
import { eachSeed } from '@sluice/testkit'
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

interface Passed {
  readonly name: string
  readonly key: string
  readonly cost: number
  readonly takenAt: number
}

interface Bench extends FailoverBench {
  readonly passed: Passed[]
  /** Costs reported through `passed` for the key since the last call. */
  units(): number[]
}

/** A bench whose backend records the requests that were admitted in its place. */
function benchWithPassed(more: Partial<Backend> = {}): Bench {
  const one = failoverBench(1e12)
  const passed: Passed[] = []
  const hear = (charges: readonly Charge[], takenAt: number): void => {
    for (const { key, cost, counter } of charges) {
      expect(one.flaky.opened).toContain(counter)
      if (key !== 'of the breaker') passed.push({ name: counter.compiled.policy.name, key, cost, takenAt })
    }
  }
  Object.assign(one.flaky, { passed: hear, ...more })
  return { ...one, passed, units: () => passed.splice(0).map(({ cost }) => cost) }
}

function several(
  { flaky, clock }: FailoverBench,
  policies: readonly Omit<PolicyInput, 'window'>[],
  rule: BackendErrorRule,
): Limiter {
  const whole = policies.map((policy) => ({ window: '1m', algorithm: 'fixed-window', ...policy }) as const)
  return createLimiter({ policies: whole, backend: flaky, shared: true, clock, onBackendError: rule })
}

/** Admitted usage that reached the backend by another way than `passed`, and the adjustments it received. */
function otherReports({ flaky }: FailoverBench): unknown[] {
  return flaky.heard.splice(0).flatMap(({ call, charges }) => {
    const admitted = charges.flatMap(({ known }) => known?.admitted ?? [])
    return call === 'adjust' ? [call, ...admitted] : admitted
  })
}

describe.each(['local', 'allow'] as const)('a request that the rule %s admitted is reported as passed', (rule) => {
  test('while the breaker is open, with the time of the decision', async () => {
    const one = benchWithPassed()
    const limiter = one.limiter(rule)
    await openBreaker(one, limiter)
    one.clock.advance(7)
    const decision = await limiter.take('key', 2)
    expect(decision).toMatchObject({ allowed: true, counted: false })
    expect(one.passed).toEqual([{ name: 'default', key: 'key', cost: 2, takenAt: one.clock.now() }])
    expect(decision.takenAt).toBe(one.clock.now())
  })

  test('if the deadline passed', async () => {
    const one = benchWithPassed()
    const limiter = one.limiter(rule)
    one.flaky.condition = 'silent'
    await one.answered(limiter.take('key'))
    expect(one.passed).toEqual([{ name: 'default', key: 'key', cost: 1, takenAt: one.clock.now() }])
  })

  test.each([['rejected'], ['threw']])('if the backend %s', async (how) => {
    const one = benchWithPassed()
    const limiter = one.limiter(rule)
    const error = serverError('X')
    const throws = (): never => {
      throw error
    }
    one.flaky.condition = how === 'threw' ? throws : error
    await limiter.take('key')
    expect(one.units()).toEqual([1])
  })

  test('for several charges in one call, including charges in shadow mode', async () => {
    const one = benchWithPassed()
    const limiter = several(
      one,
      [
        { name: 'a', limit: 4 },
        { name: 'b', limit: 9, mode: 'shadow' },
      ],
      rule,
    )
    for (const condition of ['silent', serverError('X')] as const) {
      one.flaky.condition = condition
      await one.answered(limiter.take('key', { a: 1, b: 2 }))
      expect(one.passed.splice(0)).toMatchObject([
        { name: 'a', cost: 1 },
        { name: 'b', cost: 2 },
      ])
    }
    await openBreaker(one, limiter)
    one.passed.length = 0
    await limiter.take('key', { a: 1, b: 2 })
    expect(one.passed).toMatchObject([
      { name: 'a', cost: 1 },
      { name: 'b', cost: 2 },
    ])
  })

  test('and so are its refunds and later charges, with the time of the take', async () => {
    const one = benchWithPassed()
    const limiter = one.limiter(rule)
    await openBreaker(one, limiter)
    const taken = await limiter.take('key', 3)
    one.clock.advance(500)
    await limiter.charge('key', -2, taken)
    await limiter.charge('key', 5, taken)
    expect(one.passed.map(({ cost, takenAt }) => [cost, takenAt])).toEqual([
      [3, taken.takenAt],
      [-2, taken.takenAt],
      [5, taken.takenAt],
    ])
  })

  test('only once: it is neither sent as known usage nor as an adjustment when the backend answers again', async () => {
    const one = benchWithPassed()
    const limiter = one.limiter(rule)
    await limiter.take('key')
    await openBreaker(one, limiter)
    const taken = await limiter.take('key', 2)
    await limiter.charge('key', -1, taken)
    await closeBreaker(one, limiter)
    await limiter.take('key')
    await limiter.charge('key', -1, taken)
    one.clock.advance(1_000)
    await limiter.take('key')
    await settled()
    expect(otherReports(one)).toEqual([])
    expect(one.units()).toEqual([2, -1, -1])
  })

  test('unless it costs nothing', async () => {
    const one = benchWithPassed()
    const limiter = one.limiter(rule)
    one.flaky.condition = serverError('X')
    await limiter.take('key', 0)
    expect(one.units()).toEqual([])
  })
})

describe('a request is not reported as passed', () => {
  test('if the backend answered it', async () => {
    const one = benchWithPassed()
    const limiter = one.limiter()
    await one.takes(limiter, 6)
    await limiter.charge('key', -1, await limiter.take('other'))
    expect(one.units()).toEqual([])
  })

  test('if the rule denied it', async () => {
    const one = benchWithPassed()
    const deny = one.limiter('deny')
    const local = one.limiter('local', { name: 'local', limit: 1 })
    one.flaky.condition = serverError('X')
    await deny.take('key')
    expect(await one.takes(local, 2)).toBe('+local -local')
    expect(one.units()).toEqual([1])
  })

  test('if one of its enforced charges was denied, nor for a shadow charge that did not fit', async () => {
    const one = benchWithPassed()
    const policies = [
      { name: 'a', limit: 2 },
      { name: 'b', limit: 1, mode: 'shadow' },
    ] as const
    const limiter = several(one, policies, 'local')
    one.flaky.condition = serverError('X')
    for (let taken = 0; taken < 3; taken++) await limiter.take('key')
    expect(one.passed.map(({ name }) => name)).toEqual(['a', 'b', 'a'])
  })

  test('if it was taken from a lease of this process', async () => {
    const held: Answer[] = []
    const one = benchWithPassed({ takeHeld: () => held.pop() })
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    const { verdicts } = await limiter.take('key')
    expect(one.units()).toEqual([1])
    held.push({ verdicts, takenAt: one.clock.now(), counted: true, source: 'held' })
    expect((await limiter.take('key')).source).toBe('held')
    expect(one.units()).toEqual([])
  })
})

describe('a take whose answer arrives late', () => {
  /** Takes while the answer is withheld. The returned function delivers the answer. */
  async function late(one: Bench, limiter: Limiter, cost: number | Record<string, number> = 1) {
    const sent: { answer(): Promise<void> }[] = []
    const { flaky } = one
    flaky.condition = () =>
      new Promise((resolve) => {
        const { charges } = flaky.heard.at(-1) as FailoverBench['flaky']['heard'][number]
        const answer = async (): Promise<void> => {
          flaky.condition = 'well'
          resolve(await flaky.takeAll(charges))
          await settled()
        }
        sent.push({ answer })
      })
    const taken = limiter.take('key', cost as number)
    await settled()
    one.clock.advance(50)
    const decision = await taken
    flaky.condition = 'well'
    return { decision, answer: () => sent[0].answer() }
  }

  test('is reported as passed, and refunded if the backend counted it after all', async () => {
    const one = benchWithPassed()
    const { decision, answer } = await late(one, one.limiter(), 2)
    expect(one.units()).toEqual([2])
    await answer()
    expect(one.passed).toEqual([{ name: 'default', key: 'key', cost: -2, takenAt: decision.takenAt }])
  })

  test('is reported as passed and not refunded if the backend denied it after all', async () => {
    const one = benchWithPassed()
    const limiter = one.limiter('allow')
    await one.takes(limiter, 4)
    const { answer } = await late(one, limiter)
    await answer()
    expect(one.units()).toEqual([1])
  })

  test('is refunded for each charge that the backend counted', async () => {
    const one = benchWithPassed()
    const policies = [
      { name: 'a', limit: 4 },
      { name: 'b', limit: 9, mode: 'shadow' },
    ] as const
    const { answer } = await late(one, several(one, policies, 'local'), { a: 1, b: 2 })
    await answer()
    expect(one.units()).toEqual([1, 2, -1, -2])
  })

  test.each([[1], [{ a: 1, b: 2 }]])(
    'is left to the backend to undo if the backend supports this: cost %p',
    async (cost) => {
      const one = benchWithPassed({ mayCountUnanswered: () => false })
      const policies = [
        { name: 'a', limit: 4 },
        { name: 'b', limit: 9 },
      ]
      const limiter = typeof cost === 'number' ? one.limiter() : several(one, policies, 'local')
      const { answer } = await late(one, limiter, cost)
      const passed = one.passed.length
      expect(passed).toBe(typeof cost === 'number' ? 1 : 2)
      await answer()
      expect(one.passed).toHaveLength(passed)
    },
  )
})

test('a backend whose `passed` throws does not keep callers from an answer', async () => {
  const one = benchWithPassed({
    passed: () => {
      throw new Error('deaf')
    },
  })
  const limiter = one.limiter()
  one.flaky.condition = serverError('X')
  expect(await limiter.take('key')).toMatchObject({ allowed: true, source: 'local' })
})

test('counted and passed units add up to the admitted units, whatever the backend does', () =>
  eachSeed(25, async (random) => {
    const one = benchWithPassed()
    const counted = { units: 0 }
    const limiter = one.limiter(random.pick(['local', 'allow'] as const), { limit: 1_000_000 })
    let admitted = 0
    let refunded = 0
    for (let round = 0; round < 60; round++) {
      if (random.whole(4) === 0) one.flaky.condition = random.pick(['well', 'silent', serverError('X')])
      const cost = 1 + random.whole(5)
      const decision = await one.answered(limiter.take('key', cost))
      if (decision.allowed) admitted += cost
      if (decision.counted) counted.units += cost
      if (!decision.counted && random.whole(3) === 0) {
        await limiter.charge('key', -1, decision)
        refunded++
      }
      one.clock.advance(random.pick([0, 10, 300, 1_000]))
    }
    const passed = one.units().reduce((sum, units) => sum + units, 0)
    expect(counted.units + passed).toBe(admitted - refunded)
    expect(otherReports(one)).toEqual([])
  }))

test('local counts follow the answers of the backend, which already include passed requests', async () => {
  const one = benchWithPassed()
  const limiter = one.limiter()
  await openBreaker(one, limiter)
  await limiter.take('key', 2)
  await closeBreaker(one, limiter)
  expect((await limiter.take('key')).binding.remaining).toBe(3)
  await openBreaker(one, limiter)
  expect((await limiter.take('key')).binding.remaining).toBe(2)
})

test('a backend without `passed` receives the admitted usage with the next charges', async () => {
  const one = failoverBench()
  const limiter = one.limiter()
  await openBreaker(one, limiter)
  await limiter.take('key', 2)
  await closeBreaker(one, limiter)
  await limiter.take('key')
  const admitted = one.flaky.heard.flatMap(({ charges }) => charges.flatMap(({ known }) => known?.admitted ?? []))
  expect(admitted).toMatchObject([{ uncounted: 2 }])
})
