import type { TDigest } from '@sluice/sketches'
import { newDigest } from '../report/recent-digest.ts'
import type { RouteName } from '../report/route-table.ts'

/** Response times of one route in this process. */
export class RouteSummary {
  readonly name: RouteName
  /** Time from the decision to the end of the response in ms, since the last report. */
  readonly durations: TDigest = newDigest()

  constructor(name: RouteName) {
    this.name = name
  }
}
