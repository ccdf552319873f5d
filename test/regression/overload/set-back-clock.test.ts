import { expect, test } from '@jest/globals'
import { createInflightLimiter } from '@sluice/limiter-core'
import { adaptive, createPrioritizer, prioritizedInflight } from '@sluice/overload'
import { FairCap } from './fair-cap.ts'
import { SteppedClock } from './stepped-clock.ts'

// regression: the negative duration of work during which the clock was set back made the mean duration negative, so the
// next work, however short, counted as much more than it had taken
test('the client with the most service time is refused first although the clock was set back during work', async () => {
  const clock = new SteppedClock()
  const fair = new FairCap(clock)
  const permit = await fair.cap.acquire('', { client: 'stepped' })
  clock.setBack()
  permit?.release()
  await fair.use('light', 100)
  await fair.use('heavy', 5_000)
  expect(await fair.refused('heavy', 'light')).toBe('heavy')
})

// regression: the largest usage was not forgotten until the clock had caught up, so all other clients looked alike
test('a very heavy client is forgotten although the clock was set back', async () => {
  const clock = new SteppedClock()
  const fair = new FairCap(clock)
  await fair.use('enormous', 100_000_000)
  await fair.use('enormous', 0)
  clock.setBack()
  await fair.use('other', 60_000)
  clock.advance(60_000)
  await fair.use('heavy', 5_000)
  expect(await fair.refused('heavy', 'light')).toBe('heavy')
})

// regression: the threshold was not calculated until the clock had caught up
test('the least important requests are refused at once although the clock was set back', () => {
  const clock = new SteppedClock()
  const prioritizer = createPrioritizer({ clock })
  const cap = createInflightLimiter({ limit: 2, backend: prioritizedInflight({ prioritizer, clock }), clock })
  clock.setBack()
  for (let request = 0; request < 200; request++) {
    cap.acquire('', { priority: request % 2 === 0 ? 'high' : 'sheddable' })
    clock.advance(10)
  }
  expect(prioritizer.level).toBeGreaterThan(0)
})

// regression: a negative duration was the shortest of its client, whose event streams then counted as slow work
test('event streams of a client are counted apart although the clock was set back during its work', () => {
  const clock = new SteppedClock()
  const cap = createInflightLimiter({ clock, limit: adaptive() })
  const permit = cap.acquire('', { client: 'streams' })
  clock.setBack()
  permit?.release()
  for (let stream = 0; stream < 20; stream++) expect(cap.acquire('', { client: 'streams' })).toBeDefined()
  clock.advance(2_000)
  expect(cap.acquire('', { client: 'other' })).toBeDefined()
})
