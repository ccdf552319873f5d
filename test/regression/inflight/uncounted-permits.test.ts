import { expect, test } from '@jest/globals'
import { type CapControls, type CapHandle, createInflightLimiter } from '@sluice/limiter-core'
import { Warnings } from '@sluice/testkit'

test.each(['shadow', 'off'] as const)(
  'work that listens to permits keeps nothing when they end, also if operators set the mode %s',
  async (mode) => {
    const warnings = new Warnings()
    warnings.listen()
    const handles: CapHandle[] = []
    const cap = createInflightLimiter({ limit: 1, observers: [{ capOpened: (handle) => void handles.push(handle) }] })
    const held = cap.acquire()
    const controls: CapControls = { mode, blockedMs: () => 0 }
    for (const handle of handles) handle.control(controls)
    const signals = new Set<AbortSignal>()
    for (let request = 0; request < 20; request++) {
      const permit = cap.acquire()
      permit?.lost.addEventListener('abort', () => {})
      if (permit) signals.add(permit.lost)
      permit?.release()
    }
    expect(signals.size).toBe(20)
    held?.release()
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings.texts.filter((text) => text.includes('MaxListenersExceeded'))).toEqual([])
    warnings.stop()
    cap.close()
  },
)
