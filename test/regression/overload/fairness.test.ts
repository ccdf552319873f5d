import { expect, test } from '@jest/globals'
import { createInflightLimiter, type Permit } from '@sluice/limiter-core'
import { prioritizedInflight } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

// regression: the largest usage was forgotten by the number of requests, not by time, so that after a heavy client had
// left, all others looked alike for a long time
test('a pause after a very heavy client does not make the others equal', async () => {
  const clock = new FakeClock()
  const backend = prioritizedInflight({ queue: { max: 1, maxWaitMs: '1h' }, clock })
  const cap = createInflightLimiter({ limit: 1, backend, clock })
  const use = async (client: string, ms: number): Promise<void> => {
    const permit = await cap.acquire('', { client })
    clock.advance(ms)
    permit?.release()
  }
  await use('enormous', 100_000_000)
  await use('enormous', 0)
  clock.advance(60_000)
  await use('heavy', 5_000)
  await cap.acquire('', { client: 'holder' })
  const heavy = cap.acquire('', { client: 'heavy' })
  let light: Permit | undefined | 'waits' = 'waits'
  Promise.resolve(cap.acquire('', { client: 'light' })).then((permit) => (light = permit))
  expect(await heavy).toBeUndefined()
  expect(light).toBe('waits')
})
