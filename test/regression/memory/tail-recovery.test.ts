import { expect, test } from '@jest/globals'
import type { PolicyInput } from '@sluice/limiter-core'
import { numberOfRuns } from '@sluice/testkit'
import { childResult } from '../../floods/child.ts'
import { everyAlgorithm } from '../../floods/scene.ts'

/** Fraction of the clients of each hour that is denied. */
interface Denied {
  readonly alone: readonly number[]
  readonly flooded: readonly number[]
}

/** Plans with the same name, and the hours after which usage under all of them has ended. */
type Plans = readonly [string, number, readonly PolicyInput[]]

const alone = everyAlgorithm.map(
  (algorithm): Plans => [algorithm, algorithm === 'sliding-window' ? 2 : 1, [{ algorithm, limit: 10, window: '1h' }]],
)

/** `npm test` takes the first two. */
const together: readonly Plans[] = [
  ['buckets', 1, [policy('token-bucket', 10, '1h'), policy('token-bucket', 100, '4h')]],
  ['three kinds', 4, [policy('gcra', 10, '1h'), policy('fixed-window', 80, '4h'), policy('sliding-log', 20, '2h')]],
  ['four slices', 2, [{ ...policy('sliding-window', 10, '1h'), slices: 4 }]],
  ['a log and a bucket', 1, [policy('sliding-log', 10, '1h'), policy('token-bucket', 10, '1h')]],
  ['a log and gcra', 1, [policy('sliding-log', 10, '1h'), policy('gcra', 12, '1h')]],
  ['gcra and a bucket', 1, [policy('gcra', 10, '1h'), policy('token-bucket', 12, '1h')]],
  ['windows', 4, [policy('fixed-window', 10, '1h'), policy('fixed-window', 80, '4h')]],
]

function policy(
  algorithm: PolicyInput['algorithm'] & string,
  limit: number,
  window: PolicyInput['window'],
): PolicyInput {
  return { algorithm, limit, window } as PolicyInput
}

// regression: a client mistaken for a key of the flood left behind its own usage with the end of both, and each light
// key extended the heavier keys in its cells: 33 % of the clients of a bucket, and all clients of some plans, were
// denied forever
test.concurrent.each([...alone, ...together.slice(0, numberOfRuns(together.length))])(
  '%s: a flood causes no denials after it has ended, nor do keys that shared its cells, for a day',
  async (_what, hours, plans) => {
    const args = [JSON.stringify(plans), '24']
    const denied = await childResult<Denied>('floods/children/half-limit-clients.ts', { args })
    expect(Math.max(...denied.alone)).toBe(0)
    expect(denied.flooded[0]).toBeGreaterThan(0.2)
    expect(Math.max(...denied.flooded.slice(hours + 1))).toBe(0)
  },
)
