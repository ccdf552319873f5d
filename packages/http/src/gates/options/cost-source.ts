import {
  badOption,
  type CompiledPolicy,
  integerFrom,
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
  /** Units that the handler has reported with `req.sluice.used`; undefined if it has reported none. */
  readonly used?: number | undefined
}

interface Reservation<Req> {
  /**
   * Units to take at first. A number must be at least 1, because a policy that reserves nothing could never deny, and
   * at most what an unused key allows.
   */
  readonly reserve: number | RequestHook<[req: Req], number>
  /**
   * With `completed`, an aborted request keeps its reservation: otherwise a client could disconnect to get its units
   * back. With `always`, `settle` also runs for aborted requests. Default: `completed`.
   */
  readonly settleOn?: 'completed' | 'always' | undefined
}

/** Takes `reserve` units when the request arrives, and corrects the amount when the response has ended. */
export interface ReservedCost<Req, Res> extends Reservation<Req> {
  /** Returns the final cost of the request, or undefined to keep the reservation. */
  readonly settle: SettleHook<Req, Res>
  readonly extend?: undefined
}

/**
 * Holds `reserve` units when the request arrives, and more units whenever the handler has used them, as it reports with
 * `req.sluice.used`. The reported units are spent when the response has ended, also if the client disconnects; without a
 * report, the reservation is spent. Requires a policy with `maxHoldMs`; a running request renews its hold.
 */
export interface StreamedCost<Req, Res> extends Reservation<Req> {
  readonly extend: 'stream'
  /** Returns the final cost of the request, or undefined to spend the units that the handler has reported. */
  readonly settle?: SettleHook<Req, Res> | undefined
  /** Units of one extension, an integer of at least 1. Default: the reservation of the request. */
  readonly extendBy?: number | undefined
  /**
   * What happens to a response when more units do not fit. `abort` aborts the signal `req.sluice.exhausted`, then ends
   * the response: an event stream with the event `error`, any other response by closing its connection or stream. A
   * response that has not started is left to its handler. `finish` sends the whole response and spends its full cost.
   * Default: `abort`.
   */
  readonly onExhausted?: 'abort' | 'finish' | undefined
}

type SettleHook<Req, Res> = RequestHook<[req: Req, res: Res, how: SettleContext], number | undefined>

/**
 * Units that a request takes. Default: 1. A fixed number must be at least 1 and at most what an unused key allows: the
 * limit, or the burst.
 */
export type CostSource<Req, Res> =
  | number
  | RequestHook<[req: Req], number>
  | ReservedCost<Req, Res>
  | StreamedCost<Req, Res>

/** A validated cost. */
export interface CompiledCost<Req, Res> {
  readonly fixed: number | undefined
  readonly of: ((req: Req) => MaybePromise<number>) | undefined
  readonly settle: SettleHook<Req, Res> | undefined
  readonly settleAlways: boolean
  /** Set if the hold is extended while the response streams. */
  readonly stream?: StreamTerms | undefined
}

/** How a hold is extended while the response streams. */
interface StreamTerms {
  /** Units of one extension; undefined for the units that the request has reserved. */
  readonly extendBy: number | undefined
  readonly onExhausted: 'abort' | 'finish'
}

export function compileCost<Req, Res>(cost: CostSource<Req, Res> = 1): CompiledCost<Req, Res> {
  if (typeof cost === 'number') {
    return { fixed: atLeastOne('cost', wholeCost(cost)), of: undefined, settle: undefined, settleAlways: false }
  }
  if (typeof cost === 'function') return { fixed: undefined, of: cost, settle: undefined, settleAlways: false }
  if (typeof cost !== 'object' || cost === null) {
    throw badOption('cost', cost, 'a number, a function of the request, or { reserve, settle }')
  }
  const options = optionsOf('cost', cost as Partial<StreamedCost<Req, Res>>, COST_OPTIONS)
  const stream = streamTermsOf(options)
  const { reserve, settle = stream && keepReported, settleOn = 'completed' } = options
  if (typeof settle !== 'function') {
    throw new SluiceError('SLUICE_BAD_COST', `cost.settle: expected a function, received ${kindOf(settle)}`)
  }
  if (reserve === 0) atLeastOne('cost.reserve', reserve)
  const settleAlways = oneOf('cost.settleOn', settleOn, ['completed', 'always']) === 'always'
  return { ...compileCost<Req, Res>(reserve), settle, settleAlways, ...(stream && { stream }) }
}

const COST_OPTIONS = ['reserve', 'settle', 'settleOn', 'extend', 'extendBy', 'onExhausted'] as const

function keepReported(): undefined {}

function streamTermsOf({
  extend,
  extendBy,
  onExhausted,
}: Partial<StreamedCost<unknown, never>>): StreamTerms | undefined {
  if (extend === undefined) {
    const option = extendBy === undefined ? 'onExhausted' : 'extendBy'
    const value = extendBy === undefined ? onExhausted : extendBy
    if (value === undefined) return undefined
    throw badOption(`cost.${option}`, value, "cost.extend: 'stream'")
  }
  oneOf('cost.extend', extend, ['stream'])
  return {
    extendBy: extendBy === undefined ? undefined : integerFrom('cost.extendBy', extendBy, 1),
    onExhausted: oneOf('cost.onExhausted', onExhausted ?? 'abort', ['abort', 'finish']),
  }
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

/** Throws `SLUICE_BAD_OPTION` if a hold is to be extended, and the policy holds no units. */
export function checkHolds({ stream }: CompiledCost<never, never>, { policy }: CompiledPolicy): void {
  if (!stream || policy.maxHoldMs !== undefined) return
  throw badOption(`policy '${policy.name}': cost.extend`, 'stream', "a policy with maxHoldMs, such as maxHoldMs: '10m'")
}

function atLeastOne(option: string, units: number): number {
  if (units >= 1) return units
  throw new SluiceError(
    'SLUICE_BAD_COST',
    `${option}: expected at least 1 (with 0 the policy would never deny), received 0`,
  )
}

/**
 * Like `wholeCost`, for the cost of a request: a cost that is too large to count becomes the largest one, so that a
 * request cannot pass by asking for more.
 */
export function wholeCostOfRequest(value: unknown): number {
  return wholeCost(typeof value === 'number' && value > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : value)
}
