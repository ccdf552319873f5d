import { test } from '@jest/globals'
import { expectKept } from '../claims.ts'
import { leasesModel } from './leases.ts'
import { longLeasesSizes } from './leases-sizes.ts'

test.each(longLeasesSizes)('leases admit no more than the limit in any window: %j', (size) => {
  expectKept(`leases ${JSON.stringify(size)}`, leasesModel(size), { maxStates: 5_000_000 })
})
