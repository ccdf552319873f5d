import { test } from '@jest/globals'
import { expectKept } from '../claims.ts'
import { failoverModel } from './failover.ts'
import { longFailoverSizes } from './failover-sizes.ts'

test.each(longFailoverSizes)('failover keeps denials, and counts each unit once after an outage: %j', (size) => {
  expectKept(`failover ${JSON.stringify(size)}`, failoverModel(size), { maxStates: 5_000_000 })
})
