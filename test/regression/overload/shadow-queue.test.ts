import { expect, test } from '@jest/globals'
import { type CapHandle, createInflightLimiter } from '@sluice/limiter-core'
import { prioritizedInflight } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

// regression: a cap that denies nothing delayed requests by up to maxWaitMs
test('requests do not wait while an operator has put the cap in shadow mode', async () => {
  const clock = new FakeClock()
  const backend = prioritizedInflight({ queue: { max: 10, maxWaitMs: '10s' }, clock })
  const handles: CapHandle[] = []
  let denied = 0
  const observers = [{ capOpened: (handle: CapHandle) => void handles.push(handle), capDenied: () => void denied++ }]
  const cap = createInflightLimiter({ limit: 1, backend, clock, observers })
  await cap.acquire()
  handles[0].control({ mode: 'shadow', blockedMs: () => 0 })
  expect([await cap.acquire(), await cap.acquire('', { weight: 1 })]).not.toContain(undefined)
  expect([clock.pending, denied, cap.count()]).toEqual([0, 2, 1])
  handles[0].control(undefined)
  const waiting = cap.acquire()
  clock.advance(10_000)
  expect(await waiting).toBeUndefined()
})
