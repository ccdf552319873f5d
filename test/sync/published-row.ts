import { FakeClock, PublishedLimiter, PublishedStore, seededRandom } from '@sluice/testkit'
import type { AdmittedRow } from './admitted-table.ts'
import { mostInAny } from './most-in-any.ts'

const LIMIT = 6_000
const WINDOW_MS = 60_000

/**
 * Simulates what this number of published limiters admits of 6,000 a minute over 5 minutes. `steady` is the second
 * half.
 */
export function publishedRow(nodes: number, demand: number): AdmittedRow {
  const random = seededRandom(nodes * 1_000 + demand)
  const clock = new FakeClock()
  const store = new PublishedStore()
  const fleet = Array.from({ length: nodes }, () => ({
    limiter: new PublishedLimiter({ clock, store, threshold: LIMIT }),
    phaseMs: random.whole(1_000),
  }))
  const admittedAt: number[] = []
  const lifeMs = 5 * WINDOW_MS
  let due = 0
  for (let ms = 0; ms < lifeMs; ms++) {
    for (due += (LIMIT * demand) / WINDOW_MS; due >= 1; due--) {
      if (!random.pick(fleet).limiter.check('k').limited) admittedAt.push(ms)
    }
    for (const { limiter, phaseMs } of fleet) if (ms % 1_000 === phaseMs) limiter.tick()
    clock.advance(1)
  }
  const first = admittedAt.filter((at) => at < WINDOW_MS).length / LIMIT
  const steady = admittedAt.filter((at) => at >= lifeMs / 2).length / LIMIT / 2.5
  const most = mostInAny(admittedAt, WINDOW_MS) / LIMIT
  return { nodes, demand, shape: 'published', first, most, steady, exchangesASecond: 1 }
}
