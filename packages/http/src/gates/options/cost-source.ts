import {
  badOption,
  type CompiledPolicy,
  kindOf,
  type MaybePromise,
  oneOf,
  optionsOf,
  type RequestHook,
  SluiceError,
  wholeCost,
} from '@sluice/limiter-core/http'

/** Lowest status of a failed request. */
export const FAILED_FROM = 400

/** How a request ended; passed to `settle`. */
export interface SettleContext {
  /** Whether the response was sent completely. False if the client disconnected earlier. */
  readonly completed: boolean
  /** Milliseconds from the take to the end of the response. */
  readonly durationMs: number
  /** Status of the response; undefined if there is none, as for a message of a WebSocket. */
  readonly status?: number | undefined
}

/** Takes `reserve` units when the request arrives, and corrects the amount when the response has ended. */
export interface ReservedCost<Req, Res> {
  /**
   * Units to take at first. A number must be at least 1, because a policy that reserves nothing could never deny, and
   * at most what an unused key allows.
   */
  readonly reserve: number | RequestHook<[req: Req], number>
  /** Returns the final cost of the request, or undefined to keep the reservation. */
  readonly settle: RequestHook<[req: Req, res: Res, how: SettleContext], number | undefined>
  /**
   * With `completed`, an aborted request keeps its reservation: otherwise a client could disconnect to get its units
   * back. With `always`, `settle` also runs for aborted requests. Default: `completed`.
   */
  readonly settleOn?: 'completed' | 'always'
}

/**
 * Units that a request takes. Default: 1. A fixed number must be at least 1 and at most what an unused key allows: the
 * limit, or the burst.
 */
export type CostSource<Req, Res> = number | RequestHook<[req: Req], number> | ReservedCost<Req, Res>

/** A validated cost. */
export interface CompiledCost<Req, Res> {
  readonly fixed: number | undefined
  readonly of: ((req: Req) => MaybePromise<number>) | undefined
  readonly settle: ReservedCost<Req, Res>['settle'] | undefined
  readonly settleAlways: boolean
}

export function compileCost<Req, Res>(cost: CostSource<Req, Res> = 1): CompiledCost<Req, Res> {
  if (typeof cost === 'number') {
    return { fixed: atLeastOne('cost', wholeCost(cost)), of: undefined, settle: undefined, settleAlways: false }
  }
  if (typeof cost === 'function') return { fixed: undefined, of: cost, settle: undefined, settleAlways: false }
  if (typeof cost !== 'object' || cost === null) {
    throw badOption('cost', cost, 'a number, a function of the request, or { reserve, settle }')
  }
  const { reserve, settle, settleOn = 'completed' } = optionsOf('cost', cost, ['reserve', 'settle', 'settleOn'])
  if (typeof settle !== 'function') {
    throw new SluiceError('SLUICE_BAD_COST', `cost.settle: expected a function, received ${kindOf(settle)}`)
  }
  if (reserve === 0) atLeastOne('cost.reserve', reserve)
  const settleAlways = oneOf('cost.settleOn', settleOn, ['completed', 'always']) === 'always'
  return { ...compileCost<Req, Res>(reserve), settle, settleAlways }
}

/** The requests that count: failed ones (status 400 or higher), or successful ones. */
export type CountOnly = 'failures' | 'successes'

/**
 * Returns a cost that is taken when the request arrives, and refunded if the request does not count. Without
 * `countOnly`, returns `cost`. Throws `SLUICE_BAD_OPTION` for another value, and for a cost that settles itself.
 */
export function countedCost<Req, Res>(
  cost: CostSource<Req, Res> | undefined,
  countOnly: CountOnly | undefined,
): CostSource<Req, Res> | undefined {
  if (countOnly === undefined) return cost
  const counted = oneOf('countOnly', countOnly, ['failures', 'successes'])
  if (typeof cost === 'object')
    throw badOption('countOnly', countOnly, 'no countOnly if the cost has a settle function')
  const settle = (_req: Req, _res: Res, { status = 200 }: SettleContext): number | undefined =>
    status >= FAILED_FROM === (counted === 'failures') ? undefined : 0
  return { reserve: cost ?? 1, settle }
}

/** Throws `SLUICE_BAD_COST` if a fixed cost exceeds what an unused key allows: every request would be denied. */
export function checkFits({ fixed }: CompiledCost<never, never>, { policy, capacity }: CompiledPolicy): void {
  if (fixed === undefined || fixed <= capacity) return
  throw new SluiceError(
    'SLUICE_BAD_COST',
    `policy '${policy.name}': cost: expected at most ${capacity} (more would deny every request), received ${fixed}`,
  )
}

function atLeastOne(option: string, units: number): number {
  if (units >= 1) return units
  throw new SluiceError(
    'SLUICE_BAD_COST',
    `${option}: expected at least 1 (with 0 the policy would never deny), received 0`,
  )
}
