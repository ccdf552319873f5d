import { expect, test } from '@jest/globals'
import { numberOfRuns } from '@sluice/testkit'
import { childResult } from './child.ts'
import { MIB } from './scene.ts'

// a shard has at most 8,192 slots, of which 6,000 are used when it grows
const SHARD = 8_192

const scenes = [
  ['live', 'fixed wide log eight gcra window'],
  ['expired', 'gcra fixed window log wide'],
  ['live', 'gcra fixed window log wide'],
  ['live', 'wide log window fixed gcra'],
  ['expired', 'wide log window fixed gcra'],
] as const

// `npm test` takes the first two
test.concurrent.each(scenes.slice(0, numberOfRuns(scenes.length)))(
  'beside policies whose keys are %s no take moves more keys than two shards have: %s',
  async (others, order) => {
    const args = [String(4 * MIB), others, ...order.split(' ')]
    const { most } = await childResult<{ most: number }>('floods/children/moves.ts', { args, timeoutMs: 60_000 })
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(2 * SHARD)
  },
)
