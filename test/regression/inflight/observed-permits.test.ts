import { expect, test } from '@jest/globals'
import { type CapHandle, createInflightLimiter, type Permit } from '@sluice/limiter-core'
import { adaptive } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

test('work heavier than a learned limit is denied as full, also while operators control the cap', () => {
  const reasons: unknown[] = []
  const handles: CapHandle[] = []
  const cap = createInflightLimiter({
    limit: adaptive({ min: 1, max: 100, initial: 5 }),
    clock: new FakeClock({ nowMs: 1_000 }),
    observers: [
      { capDenied: (_key, { reason }) => void reasons.push(reason), capOpened: (handle) => void handles.push(handle) },
    ],
  })
  cap.acquire('', { weight: 10 })
  cap.acquire('', { weight: 101 })
  for (const handle of handles) handle.control({ blockedMs: () => 0 })
  cap.acquire('', { weight: 10 })
  cap.acquire('', { weight: 101 })
  expect(reasons).toEqual(['full', 'weight', 'full', 'weight'])
})

test('an observed permit of a backend of the user is disposed of by that backend', async () => {
  const calls: string[] = []
  const permit: Permit = {
    lost: new AbortController().signal,
    release: () => Promise.reject(new Error('a rejection that the permit itself handles')),
    [Symbol.dispose]: () => void calls.push('disposed'),
  }
  const cap = createInflightLimiter({
    limit: 1,
    backend: { acquire: () => permit },
    observers: [{ permitReleased: () => void calls.push('released') }],
  })
  const observed = (await cap.acquire()) as Permit
  observed[Symbol.dispose]()
  observed[Symbol.dispose]()
  expect(calls).toEqual(['disposed', 'released', 'disposed'])
})
