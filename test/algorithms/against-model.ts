import { type AlgorithmName, algorithms, type Policy } from '@sluice/limiter-core/backend'
import { assertSameVerdict, baseSeed, PolicyDriver, referenceModel } from '@sluice/testkit'
import fc from 'fast-check'
import { anyHistory, type Event, exactPolicy, unitsOf } from './any-policy.ts'

/** Fails, with the shortest history found, if an algorithm differs from its reference model. */
export function assertEqualsModel(algorithm: AlgorithmName, numRuns: number, maxLength: number): void {
  const times = fc.constantFrom(1, 2, 1_024)
  fc.assert(
    fc.property(exactPolicy(algorithm), anyHistory(maxLength), times, (policy, history, perMs) => {
      replay(policy, history, perMs)
    }),
    { numRuns, seed: baseSeed() },
  )
}

function replay(policy: Policy, history: readonly Event[], perMs: number): void {
  const key = new PolicyDriver(algorithms[policy.algorithm].compile(policy))
  const model = referenceModel(policy)
  const takes = [0]
  let now = 0
  for (const [index, { waitMs, kind, size, refund, back }] of history.entries()) {
    now += Math.round(waitMs * policy.windowMs * perMs) / perMs
    const units = unitsOf(size, model.capacity)
    const about = `event ${index} at ${now}`
    if (kind === 'adjust') {
      const takenAt = takes[Math.max(0, takes.length - 1 - back)]
      const moved = key.adjust(now, refund ? -units : units, takenAt)
      const expected = model.adjust(now, refund ? -units : units, takenAt)
      if (Math.abs(moved - expected) > 1e-6) throw new Error(`${about}: moved ${moved}, expected ${expected}`)
    } else {
      assertSameVerdict(policy, key[kind](now, units), model[kind](now, units), about)
      if (kind === 'take') takes.push(now)
    }
    assertSameVerdict(policy, key.peek(now, 1), model.peek(now, 1), `after ${about}`)
  }
}
