import { expect, test } from '@jest/globals'
import { childResult } from './child.ts'
import { MIB } from './scene.ts'

// a shard has 8,192 slots at most, of which six thousand are taken when it grows
const SHARD = 8_192

test.concurrent.each([
  // live keys of others make room in several steps where the reserve is spent: two shards as a rule, four were seen
  ['live', 'gcra fixed window log wide', 8],
  ['live', 'wide log window fixed gcra', 8],
  ['expired', 'gcra fixed window log wide', 2],
  ['expired', 'wide log window fixed gcra', 2],
] as const)(
  'beside policies whose keys are %s no take moves more keys than a few shards have: %s, %d',
  async (others, order, shards) => {
    const args = [String(4 * MIB), others, ...order.split(' ')]
    const { most } = await childResult<{ most: number }>('floods/children/moves.ts', { args, timeoutMs: 60_000 })
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(shards * SHARD)
  },
  60_000,
)
