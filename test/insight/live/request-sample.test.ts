import { expect, test } from '@jest/globals'
import { createInsight } from '@sluice/insight'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { RequestSample } from '../../../packages/insight/src/live/process/request-sample.ts'
import { decisionOf, requestOf } from './observed.ts'

const SEED = 20_260_401

function sampled(): RequestSample {
  const random = seededRandom(SEED)
  return new RequestSample(() => random.whole(999_999) / 1_000_000)
}

test('the first 100 requests per second are all measured, and one in eight of the others with weight 8', () => {
  const sample = sampled()
  const weights = (count: number) => Array.from({ length: count }, () => sample.weight())
  expect(new Set(weights(100))).toEqual(new Set([1]))
  const others = weights(80_000)
  expect(new Set(others)).toEqual(new Set([0, 8]))
  const sum = others.reduce((all, weight) => all + weight, 0)
  // five standard errors
  expect({ seed: SEED, error: Math.abs(sum / 80_000 - 1) < 5 * Math.sqrt(7 / 80_000) }).toMatchObject({ error: true })
  sample.advance()
  expect(new Set(weights(100))).toEqual(new Set([1]))
})

test('rates and percentiles of a flood represent all its requests', async () => {
  const clock = new FakeClock()
  const insight = createInsight({ clock })
  const ends: (() => void)[] = []
  for (let n = 0; n < 8_000; n++) {
    const { request, end } = requestOf(n % 2 === 0 ? '/quick' : '/slow')
    insight.decided('key', decisionOf(), request)
    if (n % 2 === 0) end()
    else ends.push(end)
  }
  clock.advance(200)
  for (const end of ends) end()
  clock.advance(2_000)
  const { routes, policies } = insight.snapshot()
  expect(policies[0].total.allowed).toBe(8_000)
  const of = (route: string) => routes.find((one) => one.route === route)
  // rates over the last 10 s or the available time; 15 % are six standard errors
  const share = (of('/slow')?.perSecond ?? 0) / ((of('/quick')?.perSecond ?? 0) + (of('/slow')?.perSecond ?? 0))
  expect(Math.abs(share - 0.5)).toBeLessThan(0.1)
  expect([of('/quick')?.p99, of('/slow')?.p50]).toEqual([0, 200])
  await insight.close()
})

test('a request outside of the sample adds no listeners, even with several limiters', async () => {
  const clock = new FakeClock()
  const insight = createInsight({ clock })
  const listeners: number[] = []
  for (let n = 0; n < 1_000; n++) {
    const { request } = requestOf('/')
    for (let limiter = 0; limiter < 3; limiter++) insight.decided('key', decisionOf(), request)
    const outgoing = request.view?.outgoing as { listenerCount(event: string): number }
    listeners.push(outgoing.listenerCount('close'))
  }
  expect(Math.max(...listeners)).toBe(1)
  expect(listeners.slice(0, 100)).toEqual(Array(100).fill(1))
  const measured = listeners.slice(100).reduce((sum, count) => sum + count, 0)
  expect(measured).toBeGreaterThan(50)
  expect(measured).toBeLessThan(200)
  await insight.close()
})
