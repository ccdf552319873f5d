import type { TDigest } from '@sluice/sketches'
import { newDigest } from './recent-digest.ts'
import type { RouteName } from './route-table.ts'

/** What one process measured of one route. */
export class RouteSummary {
  readonly name: RouteName
  /** From the decision to the end of the response, in ms, since they were last taken away. */
  readonly durations: TDigest = newDigest()

  constructor(name: RouteName) {
    this.name = name
  }
}
