import { describe, expect, test } from '@jest/globals'
import { type Algorithm, algorithms, type Step } from '@sluice/limiter-core'
import { algorithmContract } from '@sluice/testkit'
import { firstFailedClaim } from './claims-run.ts'

/** A step that does one thing otherwise. */
function faulty(algorithm: Algorithm, fault: (step: Step) => Partial<Step>): Algorithm {
  return {
    ...algorithm,
    compile(policy, largestLimit) {
      const step = algorithm.compile(policy, largestLimit)
      const plain: Step = {
        policy,
        version: step.version,
        cells: step.cells,
        capacity: step.capacity,
        waitMs: (...args) => step.waitMs(...args),
        spend: (...args) => step.spend(...args),
        adjust: (...args) => step.adjust(...args),
        remaining: (...args) => step.remaining(...args),
        resetAfterMs: (...args) => step.resetAfterMs(...args),
        adopt: (...args) => step.adopt(...args),
      }
      return { ...plain, ...fault(step) }
    },
  }
}

const faults: Readonly<Record<string, (step: Step) => Partial<Step>>> = {
  'waits 1 ms too long': (step) => ({ waitMs: (...args) => step.waitMs(...args) && step.waitMs(...args) + 1 }),
  'waits 1 ms too short': (step) => ({ waitMs: (...args) => Math.max(0, step.waitMs(...args) - 1) }),
  'lets one unit more through': (step) => ({
    waitMs: (c, at, now, cost) => step.waitMs(c, at, now, Math.max(0, cost - 1)),
  }),
  'spends nothing': () => ({ spend: () => {} }),
  'spends double': (step) => ({ spend: (c, at, now, cost) => step.spend(c, at, now, 2 * cost) }),
  'names one unit too many': (step) => ({ remaining: (...args) => step.remaining(...args) + 1 }),
  'forgets its reset': () => ({ resetAfterMs: () => 0 }),
  'refunds every take as if it were made now': (step) => ({
    adjust: (c, at, now, units) => step.adjust(c, at, now, units, now),
  }),
  'drops charges': () => ({ adjust: () => 0 }),
  'adopts nothing': () => ({ adopt: () => {} }),
  'adopts for too long': (step) => ({ adopt: (c, at, now, used, ms) => step.adopt(c, at, now + 2_000, used, ms) }),
  'writes beside its cells': (step) => ({
    spend(c, at, now, cost) {
      step.spend(c, at, now, cost)
      c[at + step.cells] = now
    },
  }),
}

const planted = Object.values(algorithms).flatMap((algorithm) =>
  Object.entries(faults).map(([name, fault]) => [algorithm.name, name, algorithm, fault] as const),
)

describe('the algorithm contract', () => {
  test.each(Object.values(algorithms))('finds no fault in $name wrapped as the faulty ones are', async (algorithm) => {
    expect(
      await firstFailedClaim((runner) =>
        algorithmContract(
          runner,
          faulty(algorithm, () => ({})),
        ),
      ),
    ).toBeUndefined()
  })

  test.each(planted)('finds that %s %s', async (_name, _fault, algorithm, fault) => {
    const failed = await firstFailedClaim((runner) => algorithmContract(runner, faulty(algorithm, fault)))
    expect(failed).toBeDefined()
  })
})
