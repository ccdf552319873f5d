import type { OptionPlaces } from '@sluice/limiter-core/http'
import { INFLIGHT_LIMIT_OPTIONS } from '../gates/caps/inflight-gate.ts'
import { RATE_LIMIT_OPTIONS } from '../gates/options/rate-inputs.ts'
import { SLOW_DOWN_OPTIONS } from '../gates/slow-down/slow-down-gate.ts'

/** Places of the options of a limit in an object that has a property for each kind of limit, for error messages. */
export const LIMIT_PLACES: OptionPlaces = {
  'in rateLimit: { … }': RATE_LIMIT_OPTIONS,
  'in inflightLimit: { … }': INFLIGHT_LIMIT_OPTIONS,
  'in slowDown: { … }': SLOW_DOWN_OPTIONS,
}
