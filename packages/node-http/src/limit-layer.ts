import {
  CapGuard,
  type InflightLimitOptions,
  isPromise,
  type MaybePromise,
  RateGuard,
  type RateLimitOptions,
  type SlowDownOptions,
  SlowGuard,
} from '@sluice/limiter-core'
import type { Exchange } from './exchange.ts'
import { RequestCap } from './request-cap.ts'
import { type Admission, isRefusal, type Refusal, type RequestLimit } from './request-limit.ts'
import { RequestRate } from './request-rate.ts'
import { RequestSlow } from './request-slow.ts'

/** What one part of an application says: the whole of it, a class, a route. `false` removes what is said above it. */
export interface LayerOptions<Req, Res, Extra = unknown> {
  readonly rateLimit?: (RateLimitOptions<Req, Res> & Extra) | false | undefined
  readonly slowDown?: (SlowDownOptions<Req, Res> & Extra) | false | undefined
  readonly inflightLimit?: (InflightLimitOptions<Req, Res> & Extra) | false | undefined
  /** Names of policies and of caps from above that do not count here; true for all of them. */
  readonly skipLimits?: readonly string[] | true | undefined
}

/** A request that was denied, and the limit that did it. */
export interface LayerRefusal<Req, Res> {
  readonly refusal: Refusal
  readonly by: RequestLimit<Req, Res>
}

/**
 * The limits of one part of an application. A part below it says what differs: a policy or a cap of the same name
 * replaces, another name stands beside. Each part that is not overridden goes on counting with its upper one.
 */
export class LimitLayer<Req, Res> {
  /** Rates first, then speed, so that nobody waits who is denied; caps last, so that nobody holds a place who waits. */
  readonly limits: readonly RequestLimit<Req, Res>[]
  readonly #rate: RequestRate<Req, Res> | undefined
  readonly #slow: RequestSlow<Req, Res> | undefined
  readonly #caps: readonly RequestCap<Req, Res>[]
  /** Limits and parts that were made here, and end with it. */
  readonly #opened: Set<{ close(): void }>
  readonly #adapterOptions: readonly string[]

  /** The uppermost layer, which says nothing. */
  static none<Req, Res>(adapterOptions: readonly string[] = []): LimitLayer<Req, Res> {
    return new LimitLayer<Req, Res>(undefined, undefined, [], new Set(), adapterOptions)
  }

  private constructor(
    rate: RequestRate<Req, Res> | undefined,
    slow: RequestSlow<Req, Res> | undefined,
    caps: readonly RequestCap<Req, Res>[],
    opened: Set<{ close(): void }>,
    adapterOptions: readonly string[],
  ) {
    this.#rate = rate
    this.#slow = slow
    this.#caps = caps
    this.#opened = opened
    this.#adapterOptions = adapterOptions
    this.limits = [rate, slow, ...caps].filter((limit) => limit !== undefined)
  }

  get rates(): readonly RequestLimit<Req, Res>[] {
    return this.limits.filter((limit) => !(limit instanceof RequestCap))
  }

  get caps(): readonly RequestLimit<Req, Res>[] {
    return this.#caps
  }

  /** The layer of a part; `place` names it, equal in all processes. Throws coded errors for bad options. */
  below(options: LayerOptions<Req, Res>, place: string): LimitLayer<Req, Res> {
    const without = options.skipLimits === true ? true : (options.skipLimits ?? [])
    const opened = new Set<{ close(): void }>()
    const layer = new LimitLayer<Req, Res>(
      this.#rateBelow(options.rateLimit, without, place, opened),
      this.#slowBelow(options.slowDown, without, opened),
      this.#capsBelow(options.inflightLimit, without, opened),
      opened,
      this.#adapterOptions,
    )
    this.#opened.add(layer)
    return layer
  }

  close(): void {
    for (const one of this.#opened) one.close()
    this.#opened.clear()
  }

  #rateBelow(
    options: LayerOptions<Req, Res>['rateLimit'],
    without: readonly string[] | true,
    place: string,
    opened: Set<{ close(): void }>,
  ): RequestRate<Req, Res> | undefined {
    const above = options === false || without === true ? undefined : this.#rate
    if (!options && (without === true || without.length === 0 || !above)) return above
    const guard = above
      ? above.guard.below({ options: options || undefined, without: without === true ? [] : without, place })
      : new RateGuard<Req, Res>(options as RateLimitOptions<Req, Res>, this.#adapterOptions)
    const made = new RequestRate(guard)
    opened.add(made)
    return made
  }

  #slowBelow(
    options: LayerOptions<Req, Res>['slowDown'],
    without: readonly string[] | true,
    opened: Set<{ close(): void }>,
  ): RequestSlow<Req, Res> | undefined {
    if (!options) {
      const name = this.#slow?.guard.name ?? ''
      return options === false || without === true || without.includes(name) ? undefined : this.#slow
    }
    const made = new RequestSlow(new SlowGuard<Req, Res>(options, this.#adapterOptions))
    opened.add(made)
    return made
  }

  #capsBelow(
    options: LayerOptions<Req, Res>['inflightLimit'],
    without: readonly string[] | true,
    opened: Set<{ close(): void }>,
  ): readonly RequestCap<Req, Res>[] {
    if (options === false) return []
    const above = without === true ? [] : this.#caps.filter(({ guard }) => !without.includes(guard.limiter.name))
    if (!options) return above
    const [first] = this.#caps
    const made = new RequestCap(
      first ? first.guard.below(options) : new CapGuard<Req, Res>(options, this.#adapterOptions),
    )
    opened.add(made)
    return [...above.filter(({ guard }) => guard.limiter.name !== made.guard.limiter.name), made]
  }
}

/** Runs limits one after the other until one denies. Answers at once while each of them does. */
export function admitAll<Req, Res>(
  limits: readonly RequestLimit<Req, Res>[],
  exchange: Exchange<Req, Res>,
  from = 0,
  held = false,
): MaybePromise<Exclude<Admission, Refusal> | LayerRefusal<Req, Res>> {
  let holds = held
  for (let index = from; index < limits.length; index++) {
    const admission = limits[index].admit(exchange)
    if (isPromise(admission)) {
      return admission.then((come) => {
        if (isRefusal(come)) return { refusal: come, by: limits[index] }
        return come === 'gone' ? come : admitAll(limits, exchange, index + 1, holds || come === 'held')
      })
    }
    if (isRefusal(admission)) return { refusal: admission, by: limits[index] }
    if (admission === 'gone') return admission
    holds ||= admission === 'held'
  }
  return holds ? 'held' : 'passed'
}
