import { test } from '@jest/globals'
import { seededRandom } from '@sluice/testkit'
import { gossipAdmitted } from './overshoot.ts'

const ROWS = [5, 20, 50, 100].flatMap((nodes) => [1.2, 2, 10, 100].map((demand) => [nodes, demand] as const))

// the rows in docs/gossip.md and docs/global-limiter.md
test.each(ROWS)(
  '%d replicas at %d times their limit',
  async (nodes, demand) => {
    const random = seededRandom(nodes * 1_000 + demand)
    const { most, steady } = await gossipAdmitted({ nodes, demand, windows: 4, random })
    process.stdout.write(`${nodes} replicas, demand ${demand}: ${most.toFixed(2)}, ${steady.toFixed(2)}\n`)
  },
  600_000,
)
