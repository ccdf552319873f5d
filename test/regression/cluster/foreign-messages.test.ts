import { expect, test } from '@jest/globals'
import { ClusterServer } from '@sluice/fleet'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { PairedPrimary } from '../../cluster/paired.ts'

const clock = new FakeClock()
const terms = { fraction: 0.1, leaseMs: 2_000 }
const mark = 'sluice.cluster@2'
const lookalikes: readonly object[] = [
  { mark },
  { mark, calls: [], answers: {} },
  { mark, counters: 'x', calls: 7, answers: 'text' },
  { mark, line: 1, counters: [], calls: [null], answers: [null] },
  { mark, line: 1, counters: [], calls: [undefined, 4], answers: [undefined, 4] },
]

test.each(lookalikes)('%j is not treated as a call to the primary', (message) => {
  expect(new ClusterServer(terms, undefined, clock).handle(message)).toBeUndefined()
})

test.each([
  [{}],
  [{ op: 'ask' }],
  [{ op: 'take', charges: [{ counter: 3 }] }],
  [{ op: 'toString', charges: [] }],
  [null],
])('the call %j is answered with an error', (call) => {
  const desk = new ClusterServer(terms, undefined, clock)
  const counters = [{ name: 'x', policy: { algorithm: 'none' }, cells: 1 }]
  const answer = desk.handle({ mark, line: 1, counters, calls: [{ id: 1, call, deadlineWall: clock.wall() }] })
  expect(answer?.answers).toEqual([{ id: 1, error: expect.any(String) }])
})

test('a worker ignores foreign messages, and receives its answers', async () => {
  const primary = new PairedPrimary(terms, clock)
  const backend = primary.worker()
  const policy = { name: 'x', algorithm: 'fixed-window', limit: 20, windowMs: 60_000 } as const
  const answer = backend.takeAll([{ key: 'k', counter: openedCounter(backend, 'c', policy), cost: 1 }])
  for (const message of lookalikes) primary.say(message)
  expect((await answer).verdicts[0].remaining).toBe(19)
  await backend.close?.()
})
