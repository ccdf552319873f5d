import { expect, test } from '@jest/globals'
import { createInflightLimiter, type Permit } from '@sluice/limiter-core'
import { prioritizedInflight } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

function queued() {
  const clock = new FakeClock()
  const backend = prioritizedInflight({ queue: { max: 10, maxWaitMs: '20d' }, clock })
  return { clock, backend, cap: createInflightLimiter({ limit: 1, backend, clock }) }
}

// regression: each queue that became empty left its timer for `maxWaitMs`, which kept the process alive
test('a queue that is empty has no timer, whether its requests were admitted or left', async () => {
  const { clock, cap } = queued()
  for (let round = 0; round < 100; round++) {
    const first = (await cap.acquire()) as Permit
    const left = new AbortController()
    const waiting = [cap.acquire(), cap.acquire('', { signal: left.signal })]
    expect(clock.pending).toBe(1)
    left.abort()
    first.release()
    const [second, third] = await Promise.all(waiting)
    second?.release()
    expect([clock.pending, third]).toEqual([0, undefined])
  }
})

// regression: only queues with requests were closed
test('a closed backend has no timers, and its requests do not wait', async () => {
  const { clock, backend, cap } = queued()
  const permit = await cap.acquire()
  const waiting = cap.acquire()
  backend.close?.()
  expect([await waiting, await cap.acquire(), clock.pending]).toEqual([undefined, undefined, 0])
  permit?.release()
  expect(await cap.acquire()).toBeDefined()
})

// regression: the usage of a client was added to a limiter that had been closed
test('permits of clients can be released after the backend has been closed', async () => {
  const { clock, backend, cap } = queued()
  const permit = await cap.acquire('', { client: 'a' })
  clock.advance(1_000)
  backend.close?.()
  permit?.release()
  expect(await cap.acquire('', { client: 'a' })).toBeDefined()
})

// regression: a clock that was set back stopped the timers of a queue for as long
test('requests wait no longer than maxWaitMs if the clock is set back', async () => {
  const clock = new FakeClock()
  let aheadMs = 3_600_000
  const stepped = { now: () => clock.now() + aheadMs, after: clock.after.bind(clock) }
  const backend = prioritizedInflight({ queue: { max: 10, maxWaitMs: 100 }, clock: stepped as never })
  const cap = createInflightLimiter({ limit: 1, backend })
  await cap.acquire()
  const waiting = cap.acquire()
  aheadMs = 0
  clock.advance(100)
  expect([await waiting, clock.pending]).toEqual([undefined, 0])
})

// regression: a request that got the place of a revoked permit started one more timer, each of which started others
test('revoked permits whose places are taken at once leave one timer', async () => {
  const clock = new FakeClock()
  const backend = prioritizedInflight({ queue: { max: 100, maxWaitMs: '1h' }, clock })
  const cap = createInflightLimiter({ limit: 2, maxHoldMs: 100, backend, clock })
  for (let request = 0; request < 40; request++) cap.acquire()
  for (let round = 0; round < 10; round++) {
    clock.advance(100)
    await undefined
    // of the queue, and of the permits
    expect([clock.pending, cap.count()]).toEqual([2, 2])
  }
  backend.close?.()
  expect(clock.pending).toBe(0)
})
