import type { SeededRandom } from '@sluice/testkit'
import type { Scene, Shape } from './upstream-model.ts'

const between = (random: SeededRandom, from: number, to: number): number => from * (to / from) ** random.next()

/** Traffic of any kind, and what replies to it. */
function traffic(random: SeededRandom, seed: number): Omit<Scene, 'seconds'> {
  return {
    seed,
    calls: Math.round(between(random, 5, 1_000)),
    arrivals: random.pick(['steady', 'poisson']),
    latencyMs: between(random, 5, 2_000),
    jitter: random.next() < 0.5,
    refusal: random.pick([429, 503, 'network']),
  }
}

/** An upstream that admits from a fifth to nine tenths of the calls, at least 2 per second and client. */
export function limitedScene(random: SeededRandom, seed: number): Scene {
  const scene = traffic(random, seed)
  const clients = random.pick([1, 1, 1, 2, 4])
  const calls = Math.min(500, Math.max(scene.calls, 12 * clients))
  const perSecond = Math.max(2 * clients, Math.round(calls * between(random, 0.05, 0.9)))
  const burst = random.pick([1, 2, perSecond, 3 * perSecond])
  // clients that do not know of each other meet at an upstream without bursts
  const kind =
    clients > 1 && burst <= 2 ? 'fixed' : random.pick<Shape['kind']>(['bucket', 'bucket', 'fixed', 'sliding'])
  const retryAfter = scene.refusal !== 'network' && random.next() < 0.4
  return { ...scene, calls, clients, shape: { kind, perSecond, burst }, retryAfter, seconds: 100 }
}

/** A healthy upstream with an outage of 30 s. */
export function outageScene(random: SeededRandom, seed: number): Scene & { outages: [[number, number]] } {
  const healthy = 5 + random.whole(40)
  const outages: [[number, number]] = [[healthy, healthy + 30]]
  const timeoutMs = random.next() < 0.4 ? between(random, 1_000, 15_000) : undefined
  const scene = traffic(random, seed)
  const calls = Math.min(300, scene.calls)
  return { ...scene, calls, failures: random.pick([0, 0.03]), outages, timeoutMs, seconds: healthy + 55 }
}

/** A healthy upstream with up to 5 % of failures, and sometimes bursts of calls. */
export function healthyScene(random: SeededRandom, seed: number): Scene {
  const arrivals = random.pick<Scene['arrivals']>(['steady', 'poisson', 'bursts'])
  const scene = traffic(random, seed)
  const calls = Math.min(300, scene.calls)
  return { ...scene, calls, arrivals, failures: random.next() * 0.05, seconds: 60 }
}
