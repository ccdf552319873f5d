import { expect, test } from '@jest/globals'
import { systemClock } from '@sluice/limiter-core/backend'
import { Heartbeat } from '../../../packages/http/src/overload/health/heartbeat.ts'

function work(ms: number): void {
  const endAt = systemClock.now() + ms
  while (systemClock.now() < endAt);
}

test('requests that wait for a turn full of timers see its delay', async () => {
  const late: number[] = []
  const heartbeat = new Heartbeat(systemClock, { beat: (lateMs) => void late.push(lateMs), rest: () => {} })
  heartbeat.request(systemClock.now())
  const timers = Array.from({ length: 30 }, (_, index) => 8 + (index % 3))
  let left = timers.length
  await new Promise<void>((resolve) => {
    const done = (): void => {
      work(5)
      left--
      // the next turn
      if (left === 0) systemClock.after(1, resolve)
    }
    for (const ms of timers) systemClock.after(ms, done)
  })
  await new Promise<void>((resolve) => systemClock.after(10, resolve))
  heartbeat.close()
  expect(Math.max(...late)).toBeGreaterThan(75)
})
