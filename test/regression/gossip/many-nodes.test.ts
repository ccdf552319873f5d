import { expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { ReplicationProgress } from '../../../packages/gossip/src/counters/replication-waiters.ts'

test('the progress of at most 3,000 nodes is remembered', () => {
  const progress = new ReplicationProgress(new FakeClock())
  for (let n = 0; n < 5_000; n++) progress.record('log', `node ${n}`, 1)
  expect(progress.clockOf('log', 'node 1999')).toBe(0)
  expect(progress.clockOf('log', 'node 2000')).toBe(1)
  expect(progress.clockOf('log', 'node 4999')).toBe(1)
})
