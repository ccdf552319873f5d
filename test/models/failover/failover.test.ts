import { describe, test } from '@jest/globals'
import { expectFound, expectKept } from '../claims.ts'
import { failoverModel } from './failover.ts'
import { failoverSizes } from './failover-sizes.ts'
import type { FAILOVER_RULES, FailoverSize } from './failover-state.ts'

const small: FailoverSize = { processes: 2, limit: 3, lates: 2, breaks: 0, losses: 0, replies: 'awaited' }

const faults: readonly (readonly [string, Partial<typeof FAILOVER_RULES>, FailoverSize])[] = [
  ['the failure rule begins with nothing', { adopts: false }, small],
  ['usage is not reported to a backend that lost it', { reportsLoss: false }, { ...small, losses: 1 }],
  ['units of a failed report are not reported again', { handsBack: false }, small],
  ['late replies are ignored', { resolves: false }, small],
  ['units of unanswered calls are reported as not counted', { basis: 'uncounted' }, small],
]

describe('failover', () => {
  test.each(failoverSizes)('keeps denials, and counts each unit once after an outage: %j', (size) => {
    expectKept(`failover ${JSON.stringify(size)}`, failoverModel(size))
  })

  test.each(faults)('would be wrong if %s', (fault, rules, size) => {
    expectFound(`failover, if ${fault}`, failoverModel(size, rules))
  })
})
