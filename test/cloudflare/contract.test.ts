import { describe, test } from '@jest/globals'
import { durableObjectBackend } from '@sluice/cloudflare'
import { backendContract } from '@sluice/testkit'
import { InProcessObjects } from './in-process-objects.ts'

describe.each([
  ['one object', 1],
  ['many objects', 4_096],
])('durableObjectBackend with %s', (_, shards) => {
  backendContract({ describe, test }, (clock) =>
    durableObjectBackend(new InProcessObjects(), { shards, clock, serverTime: () => clock.now() }),
  )
})
