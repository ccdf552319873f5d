import type { TDigest } from '@sluice/sketches'
import { RecentDigest } from '../report/recent-digest.ts'
import type { RouteName } from '../report/route-table.ts'
import type { RouteSnapshot } from '../report/snapshot.ts'
import { CountRing } from './count-ring.ts'
import { NOW_SECONDS } from './fleet-policy.ts'

/** Response times of one route over all processes. */
export class FleetRoute {
  readonly #name: RouteName
  readonly #ended = new CountRing(NOW_SECONDS + 1, 1_000)
  readonly #durations = new RecentDigest()

  constructor(name: RouteName) {
    this.#name = name
  }

  /** Merges response times. Throws if the sketch cannot be merged. */
  ended(durations: TDigest, at: number): void {
    this.#durations.merge(durations, at)
    this.#ended.add(durations.count, at)
  }

  snapshot(at: number, seconds: number): RouteSnapshot {
    return {
      ...this.#name,
      ...this.#durations.percentiles(at),
      perSecond: this.#ended.sum(NOW_SECONDS, at) / seconds,
    }
  }
}
