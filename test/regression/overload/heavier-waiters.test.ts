import { expect, test } from '@jest/globals'
import { type AcquireOptions, createInflightLimiter } from '@sluice/limiter-core'
import { prioritizedInflight } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

// lighter work that waits behind heavier work is admitted at once when the heavier work stops waiting

function capOf(max: number) {
  const clock = new FakeClock({ nowMs: 1_000 })
  const cap = createInflightLimiter({
    limit: 10,
    clock,
    backend: prioritizedInflight({ queue: { max, maxWaitMs: 100 }, clock }),
  })
  const answers: string[] = []
  const ask = async (name: string, options: AcquireOptions): Promise<void> => {
    const permit = await cap.acquire('', options)
    answers.push(permit ? name : `not ${name}`)
  }
  return { clock, ask, answers }
}

/** Lets promises that are due settle. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await undefined
}

test.each([50, 99])('because it has waited too long: %d ms', async (laterMs) => {
  const { clock, ask, answers } = capOf(5)
  await ask('running', { weight: 6 })
  ask('heavy', { weight: 5 })
  clock.advance(laterMs)
  ask('light', { weight: 1 })
  await settled()
  expect(answers).toEqual(['running'])
  clock.advance(100 - laterMs)
  await settled()
  expect(answers).toEqual(['running', 'not heavy', 'light'])
})

test('because the queue is full', async () => {
  const { clock, ask, answers } = capOf(2)
  await ask('running', { weight: 6 })
  ask('heavy', { weight: 5, priority: 'high' })
  clock.advance(90)
  ask('heavier', { weight: 6, priority: 'high' })
  // the queue has not been empty for its longest wait, and serves the latest first
  clock.advance(15)
  ask('heaviest', { weight: 9, priority: 'high' })
  await settled()
  expect(answers).toEqual(['running', 'not heavy'])
  ask('light', { weight: 1, priority: 'high' })
  await settled()
  expect(answers).toEqual(['running', 'not heavy', 'not heavier', 'light'])
})
