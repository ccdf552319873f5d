import { beforeEach, expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { LedgerHealth } from '../../../packages/fleet/src/sync/ledger-health.ts'

const SILENT_MS = 3_000

let clock: FakeClock
/** Indexed by partition. */
let servers: string[]
let health: LedgerHealth

beforeEach(() => {
  clock = new FakeClock()
  servers = ['a', 'a', 'b']
  const ledger = { partitions: 3, serverOf: (partition: number) => servers[partition] }
  health = new LedgerHealth({ ledger, silentMs: SILENT_MS, clock, changed: () => {} })
})

/** An exchange that fails and is sent again, as on each tick. */
function retry(partition: number, ms: number): void {
  for (let passed = 0; passed < ms; passed += 1_000) {
    health.awaitReply(partition)
    clock.advance(1_000)
    health.failed(partition)
  }
}

const silent = (): boolean[] => servers.map((_, partition) => health.isSilent(partition))
const failing = (): boolean[] => servers.map((_, partition) => health.isFailing(partition))

test('a partition that moves from a silent server to one without requests does not stay silent forever', () => {
  retry(0, SILENT_MS)
  expect([silent(), failing()]).toEqual([
    [true, true, false],
    [true, true, false],
  ])
  // the server of partition 1 receives no requests, so it cannot answer
  servers = ['b', 'c', 'b']
  health.awaitReply(0)
  expect(health.answered(0)).toBe(true)
  expect([silent(), failing(), health.isImpaired]).toEqual([[false, false, false], [false, false, false], false])
})

test('a partition that moves while another one still waits does not stay silent forever', () => {
  retry(0, SILENT_MS)
  servers = ['a', 'c', 'b']
  retry(0, SILENT_MS + 1_000)
  expect([silent(), failing()]).toEqual([
    [true, false, false],
    [true, false, false],
  ])
})

test('a server is not silent if an exchange was answered by the one that took over', () => {
  health.awaitReply(0)
  servers = ['b', 'a', 'b']
  health.answered(0)
  clock.advance(2 * SILENT_MS)
  expect(silent()).toEqual([false, false, false])
})

test('a server that gets its partitions back has the full timeout again', () => {
  health.awaitReply(0)
  servers = ['b', 'b', 'b']
  clock.advance(SILENT_MS - 100)
  health.awaitReply(0)
  health.answered(0)
  servers = ['a', 'a', 'b']
  health.awaitReply(0)
  clock.advance(SILENT_MS - 100)
  expect(silent()).toEqual([false, false, false])
  clock.advance(100)
  expect(silent()).toEqual([true, true, false])
})

test('a server that gets its partitions back after it was silent becomes silent again', () => {
  retry(0, SILENT_MS)
  servers = ['b', 'b', 'b']
  health.awaitReply(0)
  health.answered(0)
  servers = ['a', 'a', 'b']
  retry(0, SILENT_MS)
  expect(silent()).toEqual([true, true, false])
})
