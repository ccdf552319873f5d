import { beforeEach, describe, expect, test } from '@jest/globals'
import { type DigestCounters, digestCounters, MemoryLedger, type SketchTable } from '@sluice/counters'
import { FakeClock } from '@sluice/testkit'
import { START } from './sketch-bench.ts'

/** An in-memory ledger that can be made unreachable. While it is, calls have no effect. */
class AwayLedger extends MemoryLedger {
  isAway = false
  appends = 0

  override openSketches(name: string, kind: 'unique' | 'digest'): SketchTable {
    const table = super.openSketches(name, kind)
    const here = <T>(run: () => Promise<T>): Promise<T> =>
      this.isAway ? Promise.reject(new Error('no connection')) : run()
    return {
      claimFormat: (format) => here(() => table.claimFormat(format)),
      append: (batch) => {
        this.appends++
        return here(() => table.append(batch))
      },
      read: (id, range) => here(() => table.read(id, range)),
      replace: (rows, by) => here(() => table.replace(rows, by)),
      mergeableGroups: (page) => here(() => table.mergeableGroups(page)),
      deleteBefore: (before, keptDays) => here(() => table.deleteBefore(before, keptDays)),
    }
  }
}

let clock: FakeClock
let ledger: AwayLedger

beforeEach(() => {
  clock = new FakeClock({ wallMs: START })
  ledger = new AwayLedger(clock)
})

function open(): DigestCounters {
  return digestCounters({ ledger, clock, waitMs: '3s', random: () => 0.5 })
}

/** Settles all promises that wait only for each other. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}

describe('sketches whose ledger is unreachable', () => {
  test('keep counting, and write everything when the ledger recovers', async () => {
    const counters = open()
    await counters.add('ms', 1, { durable: true })
    ledger.isAway = true
    await counters.add('ms', 2)
    await expect(counters.flush()).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    await expect(counters.day('ms', 0.5)).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    await counters.add('ms', 3)
    ledger.isAway = false
    expect((await counters.daySketch('ms')).count).toBe(3)
  })

  test('reject a durable value after a timeout, but still count it once', async () => {
    const counters = open()
    await counters.add('ms', 1, { durable: true })
    ledger.isAway = true
    const refused = expect(counters.add('ms', 2, { durable: true })).rejects.toMatchObject({
      code: 'SLUICE_COUNTERS_UNAVAILABLE',
      message: expect.stringContaining('the value may still be counted'),
    })
    await settled()
    const before = ledger.appends
    for (let tick = 0; tick < 60; tick++) {
      clock.advance(50)
      await settled()
    }
    await refused
    // with growing pauses, and without an extra call per add
    expect(ledger.appends - before).toBeLessThanOrEqual(6)
    ledger.isAway = false
    clock.advance(1_000)
    await settled()
    expect((await open().daySketch('ms')).count).toBe(2)
  })

  test('count nothing before they have read the ledger, and start once it is reachable', async () => {
    ledger.isAway = true
    const counters = open()
    for (let n = 0; n < 2; n++) {
      await expect(counters.add('ms', 1)).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    }
    ledger.isAway = false
    await counters.add('ms', 1)
    expect((await counters.daySketch('ms')).count).toBe(1)
  })

  test('are written after flushMs, and by close', async () => {
    const counters = open()
    await counters.add('ms', 1)
    clock.advance(999)
    await settled()
    expect((await open().daySketch('ms')).count).toBe(0)
    clock.advance(1)
    await settled()
    expect((await open().daySketch('ms')).count).toBe(1)
    await counters.add('ms', 2)
    await counters.close()
    expect((await open().daySketch('ms')).count).toBe(2)
    expect(clock.pending).toBe(0)
  })
})
