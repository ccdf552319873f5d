import type { RequestHook } from '../contracts/request-hook.ts'
import type { CompiledPolicy, MaybePromise } from '../contracts.ts'
import { badOption } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'
import { wholeCost } from '../limiter/cost.ts'
import { oneOf, optionsOf } from '../options/options.ts'

/** How a request ended, for `settle`. */
export interface SettleContext {
  /** False when the client left before the response was complete. */
  readonly completed: boolean
  /** From the take to the end of the response. */
  readonly durationMs: number
}

/** Takes `reserve` at once, and corrects it when the response is complete. */
export interface ReservedCost<Req, Res> {
  /** As a number from 1 to what a fresh key has: a policy that reserves nothing could never deny. */
  readonly reserve: number | RequestHook<[req: Req], number>
  /** What the request cost in the end; `undefined` keeps the reservation. */
  readonly settle: RequestHook<[req: Req, res: Res, how: SettleContext], number | undefined>
  /**
   * Default: `completed`; on an abort the reservation stands, else a client could hang up to get its units back.
   */
  readonly settleOn?: 'completed' | 'always'
}

/** Units that a request takes; default: 1. A number is at least 1, and at most what a fresh key has: the limit, or the burst. */
export type CostSource<Req, Res> = number | RequestHook<[req: Req], number> | ReservedCost<Req, Res>

/** A cost, checked. */
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
    throw badOption('cost', cost, 'a whole number, a function of the request, or { reserve, settle }')
  }
  const { reserve, settle, settleOn = 'completed' } = optionsOf('cost', cost, ['reserve', 'settle', 'settleOn'])
  if (typeof settle !== 'function') {
    throw new SluiceError('SLUICE_BAD_COST', `cost.settle: expected a function, received ${kindOf(settle)}`)
  }
  if (reserve === 0) atLeastOne('cost.reserve', reserve)
  const settleAlways = oneOf('cost.settleOn', settleOn, ['completed', 'always']) === 'always'
  return { ...compileCost<Req, Res>(reserve), settle, settleAlways }
}

/** Throws `SLUICE_BAD_COST` where a fixed cost does not fit even a fresh key: the policy would deny everybody. */
export function checkFits({ fixed }: CompiledCost<never, never>, { policy, capacity }: CompiledPolicy): void {
  if (fixed === undefined || fixed <= capacity) return
  throw new SluiceError(
    'SLUICE_BAD_COST',
    `policy '${policy.name}': cost: expected at most ${capacity}, which a fresh key has: it would deny every request, received ${fixed}`,
  )
}

function atLeastOne(option: string, units: number): number {
  if (units >= 1) return units
  throw new SluiceError('SLUICE_BAD_COST', `${option}: expected at least 1: with 0 the policy never denies, received 0`)
}
