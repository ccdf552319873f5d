import { expect, test } from '@jest/globals'
import { createInsight } from '@sluice/insight'
import { FakeClock } from '@sluice/testkit'
import { Hub } from '../../sketches/fleet/hub.ts'

// regression: other processes could not read a report with a negative time since the start
test('other processes read the reports of a process whose clock was set back after its start', async () => {
  const time = new FakeClock()
  let aheadMs = 3_600_000
  const clock = {
    now: () => time.now() + aheadMs,
    wall: () => time.wall(),
    after: (ms: number, run: () => void) => time.after(ms, run),
  }
  const hub = new Hub()
  const here = createInsight({ clock, channel: hub.join() })
  const there = createInsight({ clock: time, channel: hub.join() })
  aheadMs = 0
  for (let second = 0; second < 3; second++) {
    time.advance(1_000)
    await Promise.resolve()
  }
  expect([there.snapshot().processes.length, there.snapshot().unreadMessages]).toEqual([2, 0])
  await Promise.all([here.close(), there.close()])
})
