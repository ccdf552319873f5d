import { describe, expect, test } from '@jest/globals'
import { type Algorithm, algorithms, type CompiledPolicy } from '@sluice/limiter-core/backend'
import { algorithmContract } from '@sluice/testkit'
import { firstFailedClaim } from './claims-run.ts'

/** A policy that does one thing otherwise. */
function faulty(algorithm: Algorithm, fault: (compiled: CompiledPolicy) => Partial<CompiledPolicy>): Algorithm {
  return {
    ...algorithm,
    compile(policy, largestLimit) {
      const compiled = algorithm.compile(policy, largestLimit)
      const plain: CompiledPolicy = {
        policy,
        version: compiled.version,
        cells: compiled.cells,
        capacity: compiled.capacity,
        waitMs: (...args) => compiled.waitMs(...args),
        spend: (...args) => compiled.spend(...args),
        adjust: (...args) => compiled.adjust(...args),
        remaining: (...args) => compiled.remaining(...args),
        resetAfterMs: (...args) => compiled.resetAfterMs(...args),
        adopt: (...args) => compiled.adopt(...args),
      }
      return { ...plain, ...fault(compiled) }
    },
  }
}

const faults: Readonly<Record<string, (compiled: CompiledPolicy) => Partial<CompiledPolicy>>> = {
  'waits 1 ms too long': (compiled) => ({
    waitMs: (...args) => compiled.waitMs(...args) && compiled.waitMs(...args) + 1,
  }),
  'waits 1 ms too short': (compiled) => ({ waitMs: (...args) => Math.max(0, compiled.waitMs(...args) - 1) }),
  'lets one unit more through': (compiled) => ({
    waitMs: (c, at, now, cost) => compiled.waitMs(c, at, now, Math.max(0, cost - 1)),
  }),
  'spends nothing': () => ({ spend: () => {} }),
  'spends double': (compiled) => ({ spend: (c, at, now, cost) => compiled.spend(c, at, now, 2 * cost) }),
  'names one unit too many': (compiled) => ({ remaining: (...args) => compiled.remaining(...args) + 1 }),
  'forgets its reset': () => ({ resetAfterMs: () => 0 }),
  'refunds every take as if it were made now': (compiled) => ({
    adjust: (c, at, now, units) => compiled.adjust(c, at, now, units, now),
  }),
  'drops charges': () => ({ adjust: () => 0 }),
  'adopts nothing': () => ({ adopt: () => {} }),
  'adopts for too long': (compiled) => ({
    adopt: (c, at, now, used, ms) => compiled.adopt(c, at, now + 2_000, used, ms),
  }),
  'writes beside its cells': (compiled) => ({
    spend(c, at, now, cost) {
      compiled.spend(c, at, now, cost)
      c[at + compiled.cells] = now
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
