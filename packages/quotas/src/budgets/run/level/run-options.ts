import {
  type Backend,
  badOption,
  type Clock,
  type Duration,
  integerFrom,
  type MaybePromise,
  type Observer,
  optionalFunction,
  optionsOf,
  parseTimerMs,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { microsOf } from '../../prices/micro-units.ts'
import type { PriceTable } from '../../prices/price-table.ts'
import { AMOUNT_KINDS, type AmountKind } from './run-amounts.ts'
import type { RunEnd } from './run-end.ts'

/** Bounds of a run. Omitted bounds do not apply. */
export interface RunBounds {
  /** Dollars above 0, with at most 6 decimal places: a number such as 0.5, or a string such as `'0.50'`. */
  readonly usd?: number | string | undefined
  /** Input and output tokens of all model calls, an integer of at least 1. */
  readonly tokens?: number | undefined
  /** Model calls, and calls of guarded functions and tools, an integer of at least 1. */
  readonly calls?: number | undefined
  /** Duration in seconds, above 0 and at most 2,147,483. */
  readonly seconds?: number | undefined
}

/** When the same call of a tool counts as a loop. */
export interface LoopOptions {
  /** How often a tool may be called with the same arguments, an integer of at least 1. The next such call is a loop. */
  readonly repeats: number
  /** Number of last tool calls in which they are searched, an integer of at least `repeats`. Default: 20. */
  readonly within?: number | undefined
}

/**
 * What happens when a bound is reached:
 * - `'abort'`: running calls are aborted, and further calls reject with `SLUICE_BUDGET_EXHAUSTED`.
 * - `'finish'`: running calls may finish, also beyond the bound. Further calls reject.
 * - a function: returns by how much each bound is raised, or undefined to abort. An object without bounds lets a loop
 *   continue. Calls wait for its promise. If it throws, the budget is aborted.
 */
export type OnExhausted = 'abort' | 'finish' | ((end: RunEnd) => MaybePromise<RunBounds | undefined>)

export interface RunBudgetOptions extends RunBounds {
  /** Identifies the run on the backend: 1 to 100 characters. Processes with the same id share one budget. Default: a random id. */
  readonly id?: string | undefined
  /** Prices of models in USD, by model id, with the kinds `input` and `output`. Required for models if `usd` is set. */
  readonly prices?: PriceTable | undefined
  /** Default: repeated calls are not detected. */
  readonly loops?: LoopOptions | undefined
  /** Default: `'abort'`. */
  readonly onExhausted?: OnExhausted | undefined
  /** Most output tokens of a model call that states no maximum and is not streamed, an integer of at least 1. Default: 4,096. */
  readonly maxOutputTokens?: number | undefined
  /** Output tokens that a stream holds at a time, an integer of at least 1. Default: 64. */
  readonly streamTokens?: number | undefined
  /** Estimates the tokens of a text until the provider reports them. May return fractions. Default: UTF-8 bytes / 4. */
  readonly countTokens?: ((text: string) => number) | undefined
  /** Aborts the run. */
  readonly signal?: AbortSignal | undefined
  /** Stores what the run has spent and holds. Default: memory, for one process. */
  readonly backend?: Backend | undefined
  /** Longest time to wait for the backend, from 1 to 60,000 ms. If it does not answer, calls are denied. Default: 5 s. */
  readonly deadlineMs?: Duration | undefined
  /** Time after which units of a killed process return, up to an eighth later. Running calls renew their units. Default: 1 minute. */
  readonly maxHoldMs?: Duration | undefined
  /** How long the backend remembers the run after its first call; at least twice `seconds` is kept. Default: 1 day. */
  readonly keepMs?: Duration | undefined
  readonly clock?: Clock | undefined
  readonly observers?: readonly Observer[] | undefined
}

export interface ChildOptions extends RunBounds {
  /** Name in bills and errors: 1 to 32 letters, digits, `-`, `_` and `.`, unique among its siblings. Default: `child-1` and so on. */
  readonly name?: string | undefined
  /** Part of each bound of the parent, above 0 and at most 1, rounded down to a unit. Explicit bounds replace it. Default: none. */
  readonly share?: number | undefined
  /** Default: those of the parent. */
  readonly loops?: LoopOptions | undefined
}

/** Validated bounds: integers, `usd` in millionths. */
export type Limits = Partial<Record<AmountKind | 'ms', number>>

const RUN_OPTIONS = [
  'usd',
  'tokens',
  'calls',
  'seconds',
  'id',
  'prices',
  'loops',
  'onExhausted',
  'maxOutputTokens',
  'streamTokens',
  'countTokens',
  'signal',
  'backend',
  'deadlineMs',
  'maxHoldMs',
  'keepMs',
  'clock',
  'observers',
] as const
const CHILD_OPTIONS = ['usd', 'tokens', 'calls', 'seconds', 'name', 'share', 'loops'] as const
const BOUNDS = ['usd', 'tokens', 'calls', 'seconds'] as const
const MAX_SECONDS = 2_147_483
const MAX_UNITS = 999_999_999_999_999

/** Throws `SLUICE_BAD_OPTION` for options of a run that are not validated elsewhere. */
export function checkedRunOptions(options: RunBudgetOptions): RunBudgetOptions {
  const given = optionsOf('runBudget', options, RUN_OPTIONS)
  const { id, onExhausted, countTokens, usd } = given
  if (id !== undefined && !(typeof id === 'string' && id.length >= 1 && id.length <= 100)) {
    throw badOption('runBudget: id', id, 'a string of 1 to 100 characters')
  }
  if (onExhausted !== undefined && typeof onExhausted !== 'function' && !['abort', 'finish'].includes(onExhausted)) {
    throw badOption('runBudget: onExhausted', onExhausted, "'abort', 'finish' or a function")
  }
  optionalFunction('runBudget: countTokens', countTokens)
  requireObjects(given)
  if (BOUNDS.every((bound) => given[bound] === undefined)) throw badOption('runBudget: usd', usd, 'at least one bound')
  return given
}

function requireObjects({ prices, signal, observers }: RunBudgetOptions): void {
  if (prices !== undefined && (typeof prices?.costOf !== 'function' || prices.unit !== 'micro-usd')) {
    throw badOption('runBudget: prices', prices, "the result of priceTable({ currency: 'USD', … })")
  }
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
    throw badOption('runBudget: signal', signal, 'an AbortSignal')
  }
  if (observers !== undefined && !Array.isArray(observers)) {
    throw badOption('runBudget: observers', observers, 'an array of observers')
  }
}

/** Throws `SLUICE_BAD_OPTION` for invalid options of a child, also if it has no bound. */
export function checkedChildOptions(options: number | ChildOptions): ChildOptions {
  const given = typeof options === 'number' ? { share: options } : optionsOf('child', options, CHILD_OPTIONS)
  const { name, share } = given
  if (name !== undefined && !(typeof name === 'string' && /^[\w.-]{1,32}$/.test(name))) {
    throw badOption('child: name', name, '1 to 32 letters, digits, -, _ and .')
  }
  if (share === undefined || (typeof share === 'number' && share > 0 && share <= 1)) return given
  if (given === options) throw badOption('child: share', share, 'a number above 0 and at most 1')
  // what is passed in the place of options may be anything, such as a secret
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    'child: expected options, or a share above 0 and at most 1, received another number',
  )
}

/** Converts bounds to integers. `least`: the smallest valid value. Throws `SLUICE_BAD_OPTION`. */
export function limitsOf(owner: string, { usd, tokens, calls, seconds }: RunBounds, least: 0 | 1 = 1): Limits {
  const limits: Limits = {}
  if (usd !== undefined) {
    const micros = microsOf(`${owner}: usd`, typeof usd === 'number' ? String(usd) : usd)
    limits.usd = integerFrom(`${owner}: usd`, Number(micros), least, MAX_UNITS)
  }
  if (tokens !== undefined) limits.tokens = integerFrom(`${owner}: tokens`, tokens, least, MAX_UNITS)
  if (calls !== undefined) limits.calls = integerFrom(`${owner}: calls`, calls, least, MAX_UNITS)
  if (seconds !== undefined) {
    if (!(typeof seconds === 'number' && (least === 0 ? seconds >= 0 : seconds > 0) && seconds <= MAX_SECONDS)) {
      throw badOption(`${owner}: seconds`, seconds, `a number above 0 and at most ${MAX_SECONDS}`)
    }
    limits.ms = Math.ceil(seconds * 1_000)
  }
  return limits
}

/** Returns a share of each bound, rounded down, but at least one unit. */
export function shareOf(limits: Limits, share: number): Limits {
  const shared: Limits = {}
  for (const kind of [...AMOUNT_KINDS, 'ms'] as const) {
    const limit = limits[kind]
    if (limit !== undefined) shared[kind] = Math.max(1, Math.floor(limit * share))
  }
  return shared
}

/** Validated `LoopOptions`. */
export interface LoopLimits {
  readonly repeats: number
  readonly within: number
}

/** Returns the limits of loops. Throws `SLUICE_BAD_OPTION`. */
export function loopsOf(owner: string, loops: LoopOptions | undefined): LoopLimits | undefined {
  if (loops === undefined) return undefined
  const given = optionsOf(`${owner}: loops`, loops, ['repeats', 'within'])
  const repeats = integerFrom(`${owner}: loops: repeats`, given.repeats, 1)
  const { within = Math.max(20, repeats) } = given
  return { repeats, within: integerFrom(`${owner}: loops: within`, within, repeats) }
}

export function holdMsOf(maxHoldMs: Duration | undefined): number {
  return maxHoldMs === undefined ? 60_000 : parseTimerMs(maxHoldMs, 'runBudget: maxHoldMs')
}
