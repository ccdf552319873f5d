import { expect, test } from '@jest/globals'
import { type CapHandle, createInflightLimiter, type Permit } from '@sluice/limiter-core'
import { prioritizedInflight } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

test.each(['shadow', 'off'] as const)(
  'work that waits when an operator sets the mode %s is not denied',
  async (mode) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const handles: CapHandle[] = []
    const cap = createInflightLimiter({
      limit: 1,
      clock,
      backend: prioritizedInflight({ queue: { max: 5, maxWaitMs: 100 }, clock }),
      observers: [{ capOpened: (handle) => void handles.push(handle) }],
    })
    const first = await cap.acquire()
    const second = cap.acquire() as Promise<Permit | undefined>
    for (const handle of handles) handle.control({ mode, blockedMs: () => 0 })
    clock.advance(100)
    expect(await second).toBeDefined()
    for (const handle of handles) handle.control(undefined)
    expect(cap.count()).toBe(1)
    first?.release()
  },
)
