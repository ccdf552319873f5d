import { describe, expect, test } from '@jest/globals'
import { type Algorithm, algorithms, type CompiledPolicy } from '@sluice/limiter-core/backend'
import { algorithmContract } from '@sluice/testkit'
import { firstFailedClaim } from './claims-run.ts'

/** Wraps an algorithm so that its compiled policies deviate in one method. */
function faulty(algorithm: Algorithm, fault: (compiled: CompiledPolicy) => Partial<CompiledPolicy>): Algorithm {
  return {
    ...algorithm,
    compile(policy, largestLimit) {
      const compiled = algorithm.compile(policy, largestLimit)
      const plain: CompiledPolicy = {
        policy,
        cells: compiled.cells,
        capacity: compiled.capacity,
        waitMs: (...args) => compiled.waitMs(...args),
        spend: (...args) => compiled.spend(...args),
        adjust: (...args) => compiled.adjust(...args),
        remaining: (...args) => compiled.remaining(...args),
        resetAfterMs: (...args) => compiled.resetAfterMs(...args),
        adopt: (...args) => compiled.adopt(...args),
        take: (...args) => compiled.take(...args),
        numbers: (...args) => compiled.numbers(...args),
        keptMs: (...args) => compiled.keptMs(...args),
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
  'admits one unit too many': (compiled) => ({
    waitMs: (c, at, now, cost) => compiled.waitMs(c, at, now, Math.max(0, cost - 1)),
  }),
  'spends nothing': () => ({ spend: () => {} }),
  'spends double': (compiled) => ({ spend: (c, at, now, cost) => compiled.spend(c, at, now, 2 * cost) }),
  'reports one unit too many as remaining': (compiled) => ({ remaining: (...args) => compiled.remaining(...args) + 1 }),
  'reports no reset time': () => ({ resetAfterMs: () => 0 }),
  'refunds every take as if it were made now': (compiled) => ({
    adjust: (c, at, now, units) => compiled.adjust(c, at, now, units, now),
  }),
  'ignores adjustments': () => ({ adjust: () => 0 }),
  'ignores known usage': () => ({ adopt: () => {} }),
  'adopts known usage for too long': (compiled) => ({
    adopt: (c, at, now, used, ms) => compiled.adopt(c, at, now + 2_000, used, ms),
  }),
  'writes outside its cells': (compiled) => ({
    spend(c, at, now, cost) {
      compiled.spend(c, at, now, cost)
      c[at + compiled.cells] = now
    },
  }),
}

const faultsInOnePass: Readonly<Record<string, (compiled: CompiledPolicy) => Partial<CompiledPolicy>>> = {
  'spends nothing': (compiled) => ({ take: (c, ...args) => compiled.take(c.slice(), ...args) }),
  'spends when it denies': (compiled) => ({
    take(c, at, now, cost, numbers) {
      compiled.take(c, at, now, cost, numbers)
      if (numbers[0] > 0 && cost <= compiled.capacity) compiled.spend(c, at, now, cost)
    },
  }),
  'answers as before the take': (compiled) => ({
    take(c, at, now, cost, numbers) {
      compiled.take(c.slice(), at, now, 0, numbers)
      compiled.take(c, at, now, cost, new Float64Array(4))
      numbers[0] = 0
    },
  }),
}

const planted = Object.values(algorithms).flatMap((algorithm) =>
  Object.entries(faults).map(([name, fault]) => [algorithm.name, name, algorithm, fault] as const),
)

describe('the algorithm contract', () => {
  test.each(Object.values(algorithms))('finds no fault in $name if the wrapper changes nothing', async (algorithm) => {
    expect(
      await firstFailedClaim((runner) =>
        algorithmContract(
          runner,
          faulty(algorithm, () => ({})),
        ),
      ),
    ).toBeUndefined()
  })

  test.each(planted)('detects a faulty %s policy that %s', async (_name, _fault, algorithm, fault) => {
    const failed = await firstFailedClaim((runner) => algorithmContract(runner, faulty(algorithm, fault)))
    expect(failed).toBeDefined()
  })

  test.each(Object.entries(faultsInOnePass))('detects a policy that in one pass %s', async (_fault, fault) => {
    const failed = await firstFailedClaim((runner) =>
      algorithmContract(runner, faulty(algorithms['sliding-window'], fault)),
    )
    expect(failed).toMatch(/in one pass/)
  })
})
