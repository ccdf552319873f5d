import { expect, test } from '@jest/globals'
import { algorithms, type Charge } from '@sluice/limiter-core'
import { ClusterServer } from '@sluice/limiter-core/cluster'
import { FakeClock } from '@sluice/testkit'
import { PairedPrimary } from '../../cluster/paired.ts'

const clock = new FakeClock()
const terms = { fraction: 0.1, leaseMs: 2_000 }
const mark = 'sluice.cluster@1'
const lookalikes: readonly object[] = [
  { mark },
  { mark, calls: [], answers: {} },
  { mark, steps: 'x', calls: 7, answers: 'text' },
  { mark, line: 1, steps: [], calls: [null], answers: [null] },
  { mark, line: 1, steps: [], calls: [undefined, 4], answers: [undefined, 4] },
]

test.each(lookalikes)('%j is no call that a primary answers', (message) => {
  expect(new ClusterServer(terms, undefined, clock).answer(message)).toBeUndefined()
})

test.each([[{}], [{ op: 'ask' }], [{ op: 'take', charges: [{ step: 3 }] }], [{ op: 'toString', charges: [] }], [null]])(
  'the call %j is answered with an error',
  (call) => {
    const desk = new ClusterServer(terms, undefined, clock)
    const steps = [{ policy: { algorithm: 'none' }, cells: 1 }]
    const answer = desk.answer({ mark, line: 1, steps, calls: [{ id: 1, call, deadlineWall: clock.wall() }] })
    expect(answer?.answers).toEqual([{ id: 1, error: expect.any(String) }])
  },
)

test('a worker hears such messages, and then its answers', async () => {
  const primary = new PairedPrimary(terms, clock)
  const backend = primary.worker()
  const policy = { name: 'x', algorithm: 'fixed-window', limit: 20, windowMs: 60_000 } as const
  const charge: Charge = { key: 'k', step: algorithms['fixed-window'].compile(policy), count: 'c', cost: 1 }
  const answer = backend.take([charge])
  for (const message of lookalikes) primary.say(message)
  expect((await answer).verdicts[0].remaining).toBe(19)
  await backend.close?.()
})
