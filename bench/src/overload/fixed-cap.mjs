import { createInflightLimiter } from '@sluice/limiter-core'
import { FakeClock, quantileOf, runOverload, seededRandom } from '@sluice/testkit'
import { stagesOf } from './judge.mjs'
import { valueAt } from './load/steps.mjs'

const candidates = [4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40]
/** Latencies of the best cap are at most so many times the longest service time. */
const mostServiceTimes = 3
const mostMs = 240_000

/**
 * Returns the fixed cap that completes the most requests of a scenario, with a p99 of at most three service times, or
 * 20 for CPU work: found by playing the scenario with each candidate on virtual time.
 */
export async function bestFixedCap({ service, sources, durationMs }) {
  const serviceMs = service.serviceMs ?? [[0, service.cpuMs]]
  const { workers = 1 } = service
  const stages = stagesOf({ service, sources, durationMs })
  const limitMs = Math.max(...stages.map((stage) => stage.serviceMs)) * (service.cpuMs ? 20 : mostServiceTimes)
  let best = { limit: candidates[0], completed: -1 }
  for (const limit of candidates) {
    const clock = new FakeClock()
    const { sources: results } = await runOverload({
      clock,
      random: seededRandom(1),
      cap: createInflightLimiter({ name: 'candidate', limit, clock }),
      workers,
      serviceMs: (atMs) => valueAt(serviceMs, atMs),
      sources: sources.map(({ rate }) => ({ rate: (atMs) => valueAt(rate, atMs) })),
      durationMs: Math.min(mostMs, durationMs),
    })
    const completed = results.reduce((sum, one) => sum + one.completed, 0)
    const p99 = quantileOf(
      results.flatMap(({ latencies }) => latencies),
      0.99,
    )
    if (p99 <= limitMs && completed > best.completed) best = { limit, completed }
  }
  return best.limit
}
