import { afterAll, describe, expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { worstAttack, worstWindow } from '../adversary.ts'
import { compiledOf } from '../compiled-of.ts'
import { promises } from './promises.ts'

const measured: string[] = []

describe('in any window, an adversary gets', () => {
  test.each(promises)('no more from %s than is promised', (name, shape, promised, known) => {
    const worst = worstAttack(compiledOf(shape), seededRandom(baseSeed()), 6, 60)
    measured.push(`${name}: worst window found ${worst.toFixed(3)} limits, promised at most ${promised}`)
    // the search is worthless if it does not find the known worst case
    expect(worst).toBeGreaterThanOrEqual(known)
    expect(worst).toBeLessThanOrEqual(promised)
  })

  test('at most 1.999 limits from sliding-window, by a burst at the end of an epoch and the weighted count after it', () => {
    const compiled = compiledOf({ algorithm: 'sliding-window', limit: 10_000, windowMs: 60_000 })
    const worst = worstWindow(compiled, [
      { fromMs: 0, toMs: 0, everyMs: 1, share: 0 },
      { fromMs: 59_999, toMs: 120_000, everyMs: 1, share: 1 },
    ])
    measured.push(`sliding-window, 10,000 in 60 s, burst and ride: ${worst.toFixed(4)} limits`)
    expect(worst).toBeGreaterThan(1.999)
    expect(worst).toBeLessThan(2)
  })
})

afterAll(() => {
  process.stdout.write(`${measured.join('\n')}\n`)
})
