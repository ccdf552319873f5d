import { expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { worstAttack } from '../adversary.ts'
import { compiledOf } from '../compiled-of.ts'
import { promises } from './promises.ts'

test.each(promises)(
  'in a long search, an adversary gets no more from %s than is promised',
  (_, shape, promised) => {
    const worst = worstAttack(compiledOf(shape), seededRandom(baseSeed()), 40, 1_000)
    process.stdout.write(`${JSON.stringify(shape)}: worst window found ${worst.toFixed(3)} limits\n`)
    expect(worst).toBeLessThanOrEqual(promised)
  },
  3_600_000,
)
