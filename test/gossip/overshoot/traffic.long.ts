import { test } from '@jest/globals'
import { seededRandom } from '@sluice/testkit'
import { trafficOf } from './traffic.ts'

// the figures in docs/gossip.md
test.each([
  [5, 100],
  [5, 1_000],
  [5, 10_000],
  [20, 1_000],
])(
  '%d replicas, %d hot keys',
  async (replicas, keys) => {
    const { bytesASecond, largestMessage, shared } = await trafficOf(replicas, keys, seededRandom(1))
    const kib = Math.round(bytesASecond / 1_024)
    process.stdout.write(
      `${replicas} replicas, ${keys} keys: ${kib} KiB/s each, ${largestMessage} B, ${shared} shared\n`,
    )
  },
  600_000,
)
