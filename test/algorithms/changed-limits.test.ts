import { describe, expect, test } from '@jest/globals'
import { type AlgorithmName, algorithms } from '@sluice/limiter-core/backend'
import { eachSeed, PolicyDriver } from '@sluice/testkit'
import { mostIn, promiseOf, type Use } from '../plans/use-history.ts'
import { algorithmNames } from './any-policy.ts'
import { policyOf } from './compiled-of.ts'

const windowMs = 60_000

/** The same cells under the old and the new limit. */
function steps(algorithm: AlgorithmName, before: number, after: number) {
  const { compile } = algorithms[algorithm]
  const largest = Math.max(before, after)
  return [before, after].map((limit) => compile(policyOf({ algorithm, limit, windowMs }), largest))
}

describe.each(algorithmNames)('when a limit changes under %s', (algorithm) => {
  test('a client at the old limit, or over the new one, stays denied', () =>
    eachSeed(100, (random) => {
      const [before, after] = [1 + random.whole(60), 1 + random.whole(60)]
      const [old, current] = steps(algorithm, before, after)
      const key = new PolicyDriver(old)
      const now = random.next() * 1e6
      const used = random.pick([before, 1 + random.whole(before)])
      key.take(now, used)
      const { remaining } = key.under(current).peek(now, 1)
      if (algorithm === 'gcra') expect(remaining).toBe(Math.floor((after * (before - used)) / before + 1e-6))
      else expect(remaining).toBe(Math.max(0, after - used))
    }))

  test('no client is denied longer than a window (two for weighted epochs; a bucket drains at the new rate)', () =>
    eachSeed(100, (random) => {
      const [before, after] = [1 + random.whole(60), 1 + random.whole(60)]
      const [old, current] = steps(algorithm, before, after)
      const key = new PolicyDriver(old)
      let now = 0
      for (let takes = 0; takes < 20; takes++) {
        now += random.whole(windowMs / 4)
        key.take(now, 1 + random.whole(before))
      }
      const { retryAfterMs, resetAfterMs } = key.under(current).peek(now, 1)
      // a bucket drains at the new rate: 60 units at 1 per window take 60 windows, and no client is admitted earlier
      const drains = algorithm === 'token-bucket' ? Math.ceil(before / after) : 1
      expect(retryAfterMs).toBeLessThanOrEqual(Math.max(drains, algorithm === 'sliding-window' ? 2 : 1) * windowMs)
      expect(resetAfterMs).toBeLessThanOrEqual(Math.max(drains, 2) * windowMs)
    }))

  test('while processes with both limits run, together they admit no more than the larger limit allows', () =>
    eachSeed(50, (random) => {
      const [before, after] = [1 + random.whole(60), 1 + random.whole(60)]
      const both = steps(algorithm, before, after)
      const cells = new Float64Array(both[0].cells)
      const larger = { algorithm, limit: Math.max(before, after), windowMs }
      const uses: Use[] = []
      let now = 1
      for (let takes = 0; takes < 300; takes++) {
        now += random.pick([0, 0, random.whole(windowMs / 20), random.whole(2 * windowMs)])
        const compiled = random.pick(both)
        const units = 1 + random.whole(4)
        if (compiled.waitMs(cells, 0, now, units) > 0) continue
        compiled.spend(cells, 0, now, units)
        uses.push({ at: now, units, plan: '' })
      }
      for (const length of [windowMs, 5 * windowMs]) {
        expect(mostIn(uses, length)).toBeLessThanOrEqual(promiseOf(larger, length))
      }
    }))

  test('the key then behaves like any other key under the new limit', () => {
    const [old, current] = steps(algorithm, 10, 4)
    const key = new PolicyDriver(old)
    key.take(0, 10)
    const changed = key.under(current)
    const { resetAfterMs } = changed.peek(0, 1)
    const now = resetAfterMs + 1
    expect(changed.take(now, 4).allowed).toBe(true)
    expect(changed.take(now, 1).allowed).toBe(false)
  })
})

describe('when the number of slices changes', () => {
  test('the counts are separate: a different number of cells uses another arena', () => {
    const two = algorithms['sliding-window'].compile(policyOf({ algorithm: 'sliding-window', limit: 5, slices: 2 }))
    const three = algorithms['sliding-window'].compile(policyOf({ algorithm: 'sliding-window', limit: 5, slices: 3 }))
    expect(two.cells).not.toBe(three.cells)
  })
})
