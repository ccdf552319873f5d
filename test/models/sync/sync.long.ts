import { test } from '@jest/globals'
import { expectKept } from '../claims.ts'
import { syncModel } from './sync.ts'
import { longSyncSizes } from './sync-sizes.ts'

test.each(longSyncSizes)('the sync ledger counts each unit once, and keeps what a process knows: %j', (size) => {
  expectKept(`sync ${JSON.stringify(size)}`, syncModel(size), { maxStates: 5_000_000 })
})
