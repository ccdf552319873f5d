import { expect, test } from '@jest/globals'
import type { InsightSnapshot } from '@sluice/insight'
import { type LiveUpdate, parseUpdate } from '../../packages/cli/src/live/live-update.ts'
import { WatchedFleet } from '../insight/page/simulated-fleet.ts'

// the compiler checks that a snapshot is an update
const asUpdate = (snapshot: InsightSnapshot): LiveUpdate => snapshot

test('a snapshot of an insight is an update that the command accepts', () => {
  const snapshot = new WatchedFleet().snapshot()
  expect(parseUpdate(JSON.stringify(snapshot))).toEqual(asUpdate(snapshot))
})

test.each([
  ['no JSON', 'hello'],
  ['null', 'null'],
  ['a list', '[]'],
  ['an update without policies', JSON.stringify({ ...new WatchedFleet().snapshot(), policies: undefined })],
  ['a policy without a limit', JSON.stringify({ ...new WatchedFleet().snapshot(), policies: [{ name: 'a' }] })],
])('%s is not an update', (_what, data) => {
  expect(parseUpdate(data)).toBeUndefined()
})
