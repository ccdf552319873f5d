import { expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { Absence } from '../../../packages/gossip/src/counters/absence.ts'

const LONG_MS = 1_000

test('a long absence remembers at most 1,000 nodes', () => {
  const clock = new FakeClock()
  const absence = new Absence(clock, LONG_MS)
  absence.end()
  clock.advance(LONG_MS)
  for (let n = 0; n < 5_000; n++) {
    absence.met(`node ${n}`, { hasLog: false })
    absence.reported(`node ${n}`, n, false)
  }
  absence.met('node 4999', { hasLog: false, others: ['node 0', 'node 1', 'node 2', 'node 3', 'node 4999'] })
  expect(absence.isLong).toBe(true)
  expect(absence.isCleared('node 4999')).toBe(true)
  expect(absence.isCleared('node 0')).toBe(false)
})

test('nodes that report the log during the absence do not count as its heirs, however many they are', () => {
  const clock = new FakeClock()
  const absence = new Absence(clock, LONG_MS)
  absence.reported('heir', 3, true)
  clock.advance(LONG_MS)
  for (let n = 0; n < 900; n++) absence.reported(`node ${n}`, 100 + n, false)
  absence.reported('node 0', 10_000, false)
  for (let n = 900; n < 998; n++) absence.reported(`node ${n}`, 100 + n, false)
  expect(absence.reportedClock).toBe(3)
  for (let n = 998; n < 5_000; n++) absence.reported(`node ${n}`, 100 + n, false)
  expect(absence.reportedClock).toBe(0)
})
