import assert from 'node:assert/strict'
import type { Algorithm, Policy } from '@sluice/limiter-core'
import { referenceModel } from '../models/reference-model.ts'
import { eachSeed, type SeededRandom } from '../seeded-random.ts'
import type { TestRunner } from '../suite-runner.ts'
import { randomCommand } from './commands.ts'
import { contractPolicies } from './contract-policies.ts'
import { PolicyDriver } from './policy-driver.ts'
import { assertSameVerdict } from './same-verdict.ts'

const RUNS = 40
const DEEDS = 60

interface Case {
  readonly policy: Policy
  readonly driver: PolicyDriver
}

/** The contract of every algorithm. Runs with the test functions of your test runner. */
export function algorithmContract({ describe, test }: TestRunner, algorithm: Algorithm): void {
  const cases = (): Case[] =>
    contractPolicies(algorithm.name).map((policy) => ({ policy, driver: new PolicyDriver(algorithm.compile(policy)) }))
  const claim = (name: string, run: (one: Case, random: SeededRandom) => void): void => {
    test(name, () =>
      eachSeed(RUNS, (random) => {
        for (const one of cases()) run(one, random)
      }),
    )
  }

  describe(`${algorithm.name} fulfils the algorithm contract`, () => {
    claim('reads zeroed cells as a new key', startsFresh)
    claim('answers what the reference model answers, whatever happened before', equalsModel)
    claim('names the first whole ms at which the cost fits', waitsExactly)
    claim('names the first whole ms at which more is left, and none of a key that is full', growsExactly)
    claim('writes nothing when it is asked, and nothing outside its own cells', writesOnlyItsOwn)
    claim('takes and answers in one pass as in steps, if it has a method for it', takesInOnePass)
    claim('never fits more than its capacity', refusesTheImpossible)
    claim('makes no new key of a refund and none fresher than new', refundsWithinBounds)
    claim('gives a key that it adopts nothing before its time, and everything at its reset', adoptsDenied)
  })
}

/** Applies `count` random commands, and returns the time of the last one. */
function live({ policy, driver }: Case, random: SeededRandom, count: number): number {
  let now = 1 + random.whole(1_000_000)
  const takes: number[] = [now]
  for (let done = 0; done < count; done++) {
    const deed = randomCommand(random, policy, true)
    // a few decades are enough: microseconds must stay exact
    if (deed.kind === 'wait') now += Math.min(deed.ms, 20 * policy.windowMs)
    if (deed.kind === 'adjust') driver.adjust(now, deed.units, takes[Math.max(0, takes.length - 1 - deed.back)])
    if (deed.kind === 'take') {
      driver.take(now, deed.cost)
      takes.push(now)
    }
  }
  return now
}

function startsFresh({ policy, driver }: Case, random: SeededRandom): void {
  const now = random.whole(1e9)
  const capacity = policy.burst ?? policy.limit
  assert.equal(driver.compiled.capacity, capacity)
  const fresh = { allowed: true, remaining: capacity, retryAfterMs: 0, resetAfterMs: 0, availableAfterMs: 0 }
  for (const cost of [0, 1, capacity]) assert.deepEqual(driver.peek(now, cost), fresh)
}

function equalsModel({ policy, driver }: Case, random: SeededRandom): void {
  const model = referenceModel(policy)
  let now = random.whole(10_000)
  const takes = [now]
  for (let done = 0; done < DEEDS; done++) {
    const deed = randomCommand(random, policy, true)
    const about = `deed ${done} ${JSON.stringify(deed)} at ${now}`
    if (deed.kind === 'wait') now += deed.ms
    if (deed.kind === 'adjust') {
      const takenAt = takes[Math.max(0, takes.length - 1 - deed.back)]
      const moved = driver.adjust(now, deed.units, takenAt)
      assert.ok(Math.abs(moved - model.adjust(now, deed.units, takenAt)) < 1e-6, `${about}: moved ${moved}`)
    }
    if (deed.kind === 'take' || deed.kind === 'peek') {
      assertSameVerdict(policy, driver[deed.kind](now, deed.cost), model[deed.kind](now, deed.cost), about)
      if (deed.kind === 'take') takes.push(now)
    }
    assertSameVerdict(policy, driver.peek(now, 1), model.peek(now, 1), `after ${about}`)
  }
}

function waitsExactly(one: Case, random: SeededRandom): void {
  const { policy, driver } = one
  const now = live(one, random, DEEDS) + random.next()
  const cost = 1 + random.whole(policy.burst ?? policy.limit)
  const { allowed, retryAfterMs } = driver.peek(now, cost)
  if (allowed) return
  assert.ok(Number.isInteger(retryAfterMs) && retryAfterMs >= 1, `waits ${retryAfterMs} ms`)
  assert.equal(driver.peek(now + retryAfterMs, cost).allowed, true, `denied after the ${retryAfterMs} ms it named`)
  assert.equal(driver.peek(now + retryAfterMs - 1, cost).allowed, false, `fits before the ${retryAfterMs} ms it named`)
}

function growsExactly(one: Case, random: SeededRandom): void {
  const { driver } = one
  const now = live(one, random, DEEDS) + random.next()
  const { remaining, retryAfterMs, resetAfterMs, availableAfterMs } = driver.peek(now, 1)
  assert.equal(availableAfterMs === 0, remaining === driver.compiled.capacity, `${remaining}, ${availableAfterMs} ms`)
  if (remaining === 0) assert.equal(availableAfterMs, retryAfterMs)
  if (availableAfterMs === 0) return
  assert.ok(Number.isInteger(availableAfterMs) && availableAfterMs >= 1, `more after ${availableAfterMs} ms`)
  assert.ok(availableAfterMs <= Math.ceil(resetAfterMs), `more after ${availableAfterMs}, all after ${resetAfterMs} ms`)
  assert.ok(driver.peek(now + availableAfterMs, 1).remaining > remaining, `no more after ${availableAfterMs} ms`)
  assert.equal(driver.peek(now + availableAfterMs - 1, 1).remaining, remaining, `before ${availableAfterMs} ms`)
}

function writesOnlyItsOwn(one: Case, random: SeededRandom): void {
  const { driver, policy } = one
  const now = live(one, random, DEEDS)
  assert.equal(driver.strayWrites, 0)
  const before = [...driver.cells]
  for (const cost of [0, 1, policy.limit, 2 * policy.limit]) driver.peek(now, cost)
  driver.take(now, 0)
  assert.deepEqual([...driver.cells], before)
}

function takesInOnePass(one: Case, random: SeededRandom): void {
  const { driver, policy } = one
  let now = live(one, random, DEEDS)
  for (let takes = 0; takes < 10; takes++) {
    now += random.next() * policy.windowMs
    const cost = [0, 1, random.whole(driver.compiled.capacity), driver.compiled.capacity + 1][takes % 4]
    const twin = driver.under(driver.compiled)
    const expected = twin.take(now, cost)
    const received = driver.takeInOnePass(now, cost)
    if (!received) return
    assert.deepEqual(received, expected, `cost ${cost} at ${now}`)
    assert.deepEqual([...driver.cells], [...twin.cells], `cells after cost ${cost} at ${now}`)
  }
}

function refusesTheImpossible(one: Case, random: SeededRandom): void {
  const { driver } = one
  const now = live(one, random, DEEDS)
  const { allowed, retryAfterMs } = driver.take(now, driver.compiled.capacity + 1)
  assert.deepEqual({ allowed, retryAfterMs }, { allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
  const { remaining } = driver.peek(now, 0)
  assert.equal(driver.peek(now, remaining).allowed, true)
  assert.equal(driver.peek(now, remaining + 1).allowed, false)
}

function refundsWithinBounds(one: Case, random: SeededRandom): void {
  const { driver } = one
  const { capacity } = driver.compiled
  driver.adjust(5_000, -capacity, 5_000)
  assert.ok(driver.cells.subarray(driver.at, driver.at + driver.compiled.cells).every((cell) => cell === 0))
  const now = live(one, random, DEEDS)
  const before = driver.peek(now, 0).remaining
  const moved = driver.adjust(now, -3 * capacity, now)
  const after = driver.peek(now, 0)
  assert.ok(moved <= 0 && after.remaining >= before && after.remaining <= capacity, `from ${before} by ${moved}`)
  assert.ok(after.resetAfterMs >= 0)
}

function adoptsDenied(one: Case, random: SeededRandom): void {
  const { driver } = one
  let now = random.next()
  for (let takes = random.whole(20); takes >= 0; takes--) {
    now += random.whole(one.policy.windowMs / 4)
    driver.take(now, 1 + random.whole(driver.compiled.capacity))
  }
  const used = driver.compiled.capacity - driver.peek(now, 0).remaining
  const heir = new PolicyDriver(driver.compiled)
  heir.adopt(now, used, driver.peek(now, 0).resetAfterMs)
  for (let ms = 0; ms < 2 * one.policy.windowMs; ms += 997) {
    const known = driver.peek(now + ms, 1)
    const adopted = heir.peek(now + ms, 1)
    assert.ok(adopted.allowed <= known.allowed, `${ms} ms on it fits, and would not have`)
    assert.ok(adopted.remaining <= known.remaining, `${ms} ms on ${adopted.remaining} fit, not ${known.remaining}`)
    assert.ok(adopted.resetAfterMs <= known.resetAfterMs + 1, `${adopted.resetAfterMs} for ${known.resetAfterMs}`)
  }
}
