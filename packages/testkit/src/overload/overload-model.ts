import { type AdaptiveLimit, createInflightLimiter } from '@sluice/limiter-core'
import { FakeClock } from '../fake-clock.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { type OverloadResult, type OverloadRunOptions, runOverload } from './overload-run.ts'

/** A service and the load that it receives. */
export interface OverloadModel extends Pick<OverloadRunOptions, 'serviceMs' | 'durationMs'> {
  readonly perSecond: number
  /** Default: 12. */
  readonly workers?: number
}

const WORKERS = 12
const MINUTE = 60_000

/** Work that takes twice as long after half an hour, under more load than the service can complete. */
export const DRIFTING: OverloadModel = {
  perSecond: 500,
  serviceMs: (atMs) => 50 * (1 + atMs / (30 * MINUTE)),
  durationMs: 30 * MINUTE,
}

/** Work of two very different durations. */
export const BIMODAL: OverloadModel = {
  perSecond: 400,
  serviceMs: (_atMs, random) => (random.next() < 0.9 ? 5 : 500),
  durationMs: 2 * MINUTE,
}

/** Runs a model on virtual time behind a cap with this limit. */
export function playModel(
  random: SeededRandom,
  { perSecond, workers = WORKERS, ...rest }: OverloadModel,
  limit: number | AdaptiveLimit,
): Promise<OverloadResult> {
  const clock = new FakeClock()
  const cap = createInflightLimiter({ limit, clock })
  return runOverload({ clock, random, cap, workers, sources: [{ rate: () => perSecond }], ...rest })
}
