import assert from 'node:assert/strict'
import type { AlgorithmName, Answer, Backend, Charge, Policy } from '@sluice/limiter-core/backend'
import type { FakeClock } from '../fake-clock.ts'
import { ReferenceBackend } from '../models/reference-backend.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { type Command, randomCommand } from './commands.ts'
import { contractPolicies } from './contract-policies.ts'
import { openedCounter } from './opened-counters.ts'
import { otherTimes } from './other-times.ts'
import { assertSameVerdict } from './same-verdict.ts'

const DEEDS = 50
const KEYS = ['a', 'b'] as const
const CALLS = { take: 'takeAll', peek: 'peekAll' } as const

/** A take that went before, for charges and refunds. */
interface Taken {
  readonly charges: readonly Charge[]
  readonly takenAt: number
  readonly at: number
}

/** Does random deeds to a backend and to the reference, and fails at the first answer in which they differ. */
export async function equalsReference(
  algorithm: AlgorithmName,
  backend: Backend,
  clock: FakeClock,
  random: SeededRandom,
): Promise<void> {
  const reference = new ReferenceBackend()
  const policies = contractPolicies(algorithm)
  const taken: Taken[] = []
  for (let done = 0; done < DEEDS; done++) {
    const policy = random.pick(policies)
    const deed = randomCommand(random, policy, true)
    if (random.whole(3) === 0) await peekAtAnotherTime(backend, clock.now(), policy, random)
    const about = `deed ${done} ${JSON.stringify(deed)} at ${clock.now()}`
    if (deed.kind === 'wait') clock.advance(deed.ms)
    else if (deed.kind === 'adjust') await adjustBoth(backend, reference, clock.now(), taken, deed, about)
    else {
      const charges = someCharges(backend, random, policy, deed.cost)
      const answer = await backend[CALLS[deed.kind]](charges)
      assertSame(answer, reference[deed.kind](charges, clock.now()), about)
      if (deed.kind === 'take') taken.unshift({ charges, takenAt: answer.takenAt, at: clock.now() })
    }
  }
}

/** Reads the state at another time, which must change nothing. */
async function peekAtAnotherTime(backend: Backend, now: number, policy: Policy, random: SeededRandom): Promise<void> {
  const charges = someCharges(backend, random, policy, random.whole(3))
  await backend.peekAll(charges, { now: now + random.pick(otherTimes(policy.windowMs)) })
}

/** Returns one charge, possibly with a second one: another policy, the same or another key, enforced or advisory. */
function someCharges(backend: Backend, random: SeededRandom, policy: Policy, cost: number): Charge[] {
  const first = chargeOf(backend, policy, random.pick(KEYS), cost, random.whole(4) === 0)
  if (random.whole(2) === 0 || backend.maxCounts === 1) return [first]
  const second = chargeOf(backend, policyBeside(backend), random.pick(KEYS), random.whole(4), random.whole(3) === 0)
  return random.pick([
    [first, second],
    [second, first],
  ])
}

/** Uses the log, unless the backend does not support it. */
function policyBeside({ algorithms }: Backend): Policy {
  const algorithm = algorithms?.includes('sliding-log') === false ? 'fixed-window' : 'sliding-log'
  return { name: 'beside', algorithm, limit: 12, windowMs: 20_000 }
}

function chargeOf(backend: Backend, policy: Policy, key: string, cost: number, advisory: boolean): Charge {
  return { key, counter: openedCounter(backend, 'history', policy), cost, advisory }
}

async function adjustBoth(
  backend: Backend,
  reference: ReferenceBackend,
  now: number,
  taken: readonly Taken[],
  { units, back }: Extract<Command, { kind: 'adjust' }>,
  about: string,
): Promise<void> {
  const take = taken[Math.min(back, taken.length - 1)]
  if (!take) return
  const moved = take.charges.map((charge) => ({ ...charge, cost: units }))
  assertSame(await backend.adjustAll(moved, take.takenAt), reference.adjust(moved, take.at, now), about)
}

function assertSame(answer: Answer, expected: ReturnType<ReferenceBackend['take']>, about: string): void {
  assert.equal(answer.verdicts.length, expected.length, about)
  for (const [index, verdict] of answer.verdicts.entries()) {
    assertSameVerdict(expected[index].policy, verdict, expected[index], `${about}, verdict ${index}`)
    assert.equal(verdict.shadow, expected[index].shadow, about)
    assert.equal(verdict.policy.name, expected[index].policy.name, about)
  }
}
