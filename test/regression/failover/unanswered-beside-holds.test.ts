import { expect, test } from '@jest/globals'
import {
  type Answer,
  type Charge,
  createLimiter,
  type Hold,
  type MaybePromise,
  type Moment,
} from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

/** A backend that counts calls at once, and answers them when the test says so. */
class WithholdingBackend extends PromisedBackend {
  readonly withheld: (() => void)[] = []
  withholds = false

  override async takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    return this.#later(super.takeAll(charges, moment))
  }

  override async adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    return this.#later(super.adjustAll(charges, takenAt, moment))
  }

  async #later(answer: Promise<Answer>): Promise<Answer> {
    if (this.withholds) await new Promise<void>((resolve) => this.withheld.push(resolve))
    return answer
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await undefined
}

test.each<[title: string, then: (hold: Hold<Promise<never>>) => MaybePromise<unknown>, used: number]>([
  ['an extension', (hold) => hold.extend(5), 10 + 5],
  ['a settlement', (hold) => hold.settle(4), 4],
])('units whose answer is missing count once if the answer to %s arrives next', async (_, then, used) => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = new WithholdingBackend(clock)
  const limiter = createLimiter({
    policies: [{ limit: 100, window: '1h', algorithm: 'fixed-window', maxHoldMs: '30m' }],
    clock,
    backend,
  })
  const hold = await limiter.hold('a', { reserve: 10 })
  backend.withholds = true
  const unanswered = limiter.take('a', 3)
  await settled()
  clock.advance(10)
  const answered = then(hold as Hold<Promise<never>>)
  await settled()
  clock.advance(40)
  expect((await unanswered).source).toBe('local')
  backend.withholds = false
  clock.advance(5)
  backend.withheld[1]()
  await answered
  clock.advance(100)
  expect((await limiter.take('a', 1)).binding.remaining).toBe(100 - used - 3 - 1)
})
