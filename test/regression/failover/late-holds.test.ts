import { expect, test } from '@jest/globals'
import { type Answer, type Charge, createLimiter, type Limiter, type Moment } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

const MINUTE = 60_000

/** A backend that counts calls at once, and answers takes when the test resolves them. */
class WithholdingBackend extends PromisedBackend {
  readonly withheld: (() => void)[] = []
  withholds = false

  override async takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    const answer = super.takeAll(charges, moment)
    if (this.withholds) await new Promise<void>((resolve) => this.withheld.push(resolve))
    return answer
  }
}

/** A backend that reports units as held. */
class HoldingBackend extends PromisedBackend {
  held = 0

  override async takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    const answer = await super.takeAll(charges, moment)
    return { ...answer, verdicts: answer.verdicts.map((verdict) => ({ ...verdict, held: this.held })) }
  }
}

const policies = [{ limit: 100, window: '1h', algorithm: 'fixed-window', maxHoldMs: '10m' }] as const

async function settled(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await undefined
}

/** Sends owed calls, and returns the units that are left. */
async function left(limiter: Limiter): Promise<number> {
  await limiter.take('a', 0)
  await settled()
  return (await limiter.take('a', 0)).binding.remaining
}

test.each(['before the settlement', 'after the settlement', 'never'])(
  'units of a late extension are spent once, if its answer arrives %s',
  async (when) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const backend = new WithholdingBackend(clock)
    const limiter = createLimiter({ policies, clock, backend })
    await limiter.take('a', 20)
    const hold = await limiter.hold('a', { reserve: 10 })
    backend.withholds = true
    const extended = hold.extend(5)
    await settled()
    clock.advance(50)
    expect([await extended, hold.decision.source]).toEqual([true, 'local'])
    backend.withholds = false
    const answer = async (): Promise<void> => {
      backend.withheld[0]()
      await settled()
    }
    if (when === 'before the settlement') await answer()
    expect(await hold.extend(1)).toBe(true)
    await hold.settle(12)
    await settled()
    if (when === 'after the settlement') await answer()
    if (when !== 'never') expect(await left(limiter)).toBe(68)
    clock.advance(12 * MINUTE)
    expect(await left(limiter)).toBe(68)
    await limiter.close()
  },
)

test.each([true, false])(
  'units of a late hold are spent once, if the failure rule allows it: %s',
  async (isAllowed) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const backend = new WithholdingBackend(clock)
    const limiter = createLimiter({ policies, clock, backend, onBackendError: isAllowed ? 'local' : 'deny' })
    await limiter.take('a', 20)
    backend.withholds = true
    const late = limiter.hold('a', { reserve: 50 })
    await settled()
    clock.advance(50)
    const hold = await late
    expect(hold.allowed).toBe(isAllowed)
    backend.withholds = false
    backend.withheld[0]()
    await settled()
    await hold.settle(30)
    expect(await left(limiter)).toBe(isAllowed ? 50 : 80)
    clock.advance(12 * MINUTE)
    expect(await left(limiter)).toBe(isAllowed ? 50 : 80)
    await limiter.close()
  },
)

test('units that no backend has counted are settled before a call would report them', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = new PromisedBackend(clock)
  const limiter = createLimiter({ policies, clock, backend })
  const hold = await limiter.hold('a', { reserve: 10 })
  backend.failure = new Error('no connection')
  expect(await hold.extend(40)).toBe(true)
  backend.failure = undefined
  await hold.settle(30)
  expect(await left(limiter)).toBe(70)
  expect(backend.calls).toEqual(['take', 'take', 'adjust', 'take', 'take'])
  await limiter.close()
})

test('the failure rule counts units in a window that is not as short as a hold', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = new HoldingBackend(clock)
  const limiter = createLimiter({ policies: [{ ...policies[0], maxHoldMs: '1m' }], clock, backend })
  backend.held = 10
  expect((await limiter.hold('a', { reserve: 10 })).allowed).toBe(true)
  backend.failure = new Error('no connection')
  expect(await limiter.take('a', 90)).toMatchObject({ allowed: true, source: 'local' })
  clock.advance(3 * MINUTE)
  expect(await limiter.take('a', 1)).toMatchObject({ allowed: false, source: 'local' })
  await limiter.close()
})
