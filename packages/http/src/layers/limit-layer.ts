import { kindOf, SluiceError } from '@sluice/limiter-core/http'
import { InflightGate } from '../gates/caps/inflight-gate.ts'
import type { InflightLimitOptions } from '../gates/options/inflight-limit-options.ts'
import type { PartRateLimitOptions, RateLimitOptions } from '../gates/options/rate-limit-options.ts'
import { RateGate } from '../gates/rate-gate.ts'
import { scopeOfPart } from '../gates/rate-layers.ts'
import { ShedGate } from '../gates/shed/shed-gate.ts'
import type { ShedOptions } from '../gates/shed/shed-options.ts'
import { SlowDownGate } from '../gates/slow-down/slow-down-gate.ts'
import type { SlowDownOptions } from '../gates/slow-down/slow-down-options.ts'
import { HttpInflightLimit } from '../limits/http-inflight-limit.ts'
import type { HttpLimit } from '../limits/http-limit.ts'
import { HttpRateLimit } from '../limits/http-rate-limit.ts'
import { HttpShed } from '../limits/http-shed.ts'
import { HttpSlowDown } from '../limits/http-slow-down.ts'
import { compileSharedOptions, type SharedOptions } from '../limits/limiters.ts'

/**
 * Limits that one part of an application declares: the application, a class or a route. `false` removes the limits of
 * that kind which the part inherits.
 */
export interface LayerOptions<Req, Res, Extra = unknown> {
  readonly rateLimit?: (PartRateLimitOptions<Req, Res> & Extra) | false | undefined
  readonly shed?: (ShedOptions<Req, Res> & Extra) | false | undefined
  readonly slowDown?: (SlowDownOptions<Req, Res> & Extra) | false | undefined
  readonly inflightLimit?: (InflightLimitOptions<Req, Res> & Extra) | false | undefined
  /** Names of inherited policies and caps that do not apply here; true for all of them. */
  readonly skipLimits?: readonly string[] | true | undefined
}

/**
 * The limits of one part of an application. An inner part inherits them and declares what differs: a policy or cap
 * with the same name replaces the inherited one, one with another name is added. Inherited limits that are not replaced
 * share their counts with the outer part.
 */
export class LimitLayer<Req, Res> {
  /**
   * Load shedding comes first, so that a refused request costs no units. Then rates, then slow-downs, so that denied
   * requests are not delayed. Caps come last, so that delayed requests hold no permits.
   */
  readonly limits: readonly HttpLimit<Req, Res>[]
  readonly #sheds: readonly HttpShed<Req, Res>[]
  readonly #rate: HttpRateLimit<Req, Res> | undefined
  readonly #slows: readonly HttpSlowDown<Req, Res>[]
  readonly #caps: readonly HttpInflightLimit<Req, Res>[]
  /** Limits and inner layers that this layer created and closes. */
  readonly #opened: Closables
  readonly #inherited: Inherited

  /** Creates the outermost layer, without limits. Limits that inherit from no other limit use the `shared` options. */
  static root<Req, Res>(
    adapterOptions: readonly string[] = [],
    shared: SharedOptions = compileSharedOptions({}),
  ): LimitLayer<Req, Res> {
    const inherited = { adapterOptions, shared }
    return new LimitLayer<Req, Res>({ sheds: [], rate: undefined, slows: [], caps: [] }, new Set(), inherited)
  }

  private constructor(parts: Parts<Req, Res>, opened: Closables, inherited: Inherited) {
    const { sheds, rate, slows, caps } = parts
    this.#sheds = sheds
    this.#rate = rate
    this.#slows = slows
    this.#caps = caps
    this.#opened = opened
    this.#inherited = inherited
    this.limits = [...sheds, ...(rate ? [rate] : []), ...slows, ...caps]
  }

  get rates(): readonly HttpLimit<Req, Res>[] {
    return this.limits.filter((limit) => !(limit instanceof HttpInflightLimit))
  }

  get caps(): readonly HttpInflightLimit<Req, Res>[] {
    return this.#caps
  }

  /**
   * Creates the layer of an inner part, which `routeScope` identifies in all processes; '' for the whole application,
   * whose counts have the same names as without layers. Options that the part omits are inherited from `above`. Default:
   * this layer; if one part declares several sets of limits in a row, they all inherit from the layer outside of the
   * part. Throws coded errors for invalid options.
   */
  extend(
    options: LayerOptions<Req, Res>,
    routeScope: string,
    above: LimitLayer<Req, Res> = this,
  ): LimitLayer<Req, Res> {
    const skips = skipsOf(options.skipLimits)
    const opened: Closables = new Set()
    const part = { routeScope, above, opened }
    try {
      const parts = {
        sheds: this.#shedsBelow(options.shed, skips, part),
        rate: this.#rateBelow(options.rateLimit, skips, part),
        slows: this.#slowsBelow(options.slowDown, skips, part),
        caps: this.#capsBelow(options.inflightLimit, skips, part),
      }
      const layer = new LimitLayer<Req, Res>(parts, opened, this.#inherited)
      this.#opened.add(layer)
      return layer
    } catch (error) {
      for (const one of opened) one.close()
      throw error
    }
  }

  close(): void {
    for (const one of this.#opened) one.close()
    this.#opened.clear()
  }

  /** Releases all delayed requests of this layer and its inner layers, and delays no further ones. */
  releaseDelayed(): void {
    for (const one of this.#opened) one.releaseDelayed?.()
  }

  #shedsBelow(
    options: LayerOptions<Req, Res>['shed'],
    skips: Skips,
    { above, opened }: Part<Req, Res>,
  ): readonly HttpShed<Req, Res>[] {
    const { adapterOptions, shared } = this.#inherited
    return withOwn(this.#sheds, options, skips, (own) => {
      const [first] = above.#sheds
      const gate = first ? first.gate.below(own) : new ShedGate<Req, Res>(shared.withObservers(own), adapterOptions)
      return added(new HttpShed(gate), opened)
    })
  }

  #rateBelow(
    declared: LayerOptions<Req, Res>['rateLimit'],
    skips: Skips,
    { routeScope, above, opened }: Part<Req, Res>,
  ): HttpRateLimit<Req, Res> | undefined {
    // the gate completes or rejects options that omit the limit or the window
    const options = declared as RateLimitOptions<Req, Res> | false | undefined
    const others = options === false || skips === true ? undefined : this.#rate
    const isOwn = options !== undefined && options !== false
    if (!isOwn && (skips === true || skips.length === 0 || !others)) return others
    const { adapterOptions, shared } = this.#inherited
    const without = skips === true ? [] : skips
    if (!isOwn)
      return added(new HttpRateLimit((others as HttpRateLimit<Req, Res>).gate.nested({ without, routeScope })), opened)
    const own = above.#rate ? options : shared.withBackend(options)
    const gate = others
      ? others.gate.extended({ options: own, without, routeScope }, above.#rate?.gate)
      : new RateGate<Req, Res>(shared.withBackend(options), adapterOptions, {
          routeScope: scopeOfPart(undefined, options, routeScope),
        })
    return added(new HttpRateLimit(gate), opened)
  }

  #slowsBelow(
    options: LayerOptions<Req, Res>['slowDown'],
    skips: Skips,
    { routeScope, above, opened }: Part<Req, Res>,
  ): readonly HttpSlowDown<Req, Res>[] {
    const { adapterOptions, shared } = this.#inherited
    return withOwn(this.#slows, options, skips, (own) => {
      const [first] = above.#slows
      const gate = first
        ? first.gate.below(own, routeScope)
        : new SlowDownGate<Req, Res>(shared.withBackend(own), adapterOptions, scopeOfPart(undefined, own, routeScope))
      return added(new HttpSlowDown(gate), opened)
    })
  }

  #capsBelow(
    options: LayerOptions<Req, Res>['inflightLimit'],
    skips: Skips,
    { routeScope, above, opened }: Part<Req, Res>,
  ): readonly HttpInflightLimit<Req, Res>[] {
    const { adapterOptions, shared } = this.#inherited
    return withOwn(this.#caps, options, skips, (own) => {
      const [first] = above.#caps
      const gate = first
        ? first.gate.below(own, routeScope)
        : new InflightGate<Req, Res>(shared.withObservers(own), adapterOptions, routeScope || undefined)
      return added(new HttpInflightLimit(gate), opened)
    })
  }
}

interface Parts<Req, Res> {
  readonly sheds: readonly HttpShed<Req, Res>[]
  readonly rate: HttpRateLimit<Req, Res> | undefined
  readonly slows: readonly HttpSlowDown<Req, Res>[]
  readonly caps: readonly HttpInflightLimit<Req, Res>[]
}

/** The part of an application for which limits are created. */
interface Part<Req, Res> {
  readonly routeScope: string
  /** Layer from which options are inherited. */
  readonly above: LimitLayer<Req, Res>
  readonly opened: Closables
}

/** Settings of the outermost layer that all inner layers use. */
interface Inherited {
  readonly adapterOptions: readonly string[]
  readonly shared: SharedOptions
}

/** Limits and layers to close. Slow-downs and layers have `releaseDelayed`. */
type Closables = Set<{ close(): void; releaseDelayed?(): void }>
type Skips = readonly string[] | true

function skipsOf(skipLimits: unknown): Skips {
  if (skipLimits === undefined || skipLimits === true) return skipLimits ?? []
  if (Array.isArray(skipLimits) && skipLimits.every((name) => typeof name === 'string')) return skipLimits
  const message = `skipLimits: expected true or an array of names of policies and caps, received ${kindOf(skipLimits)}`
  throw new SluiceError('SLUICE_BAD_OPTION', message)
}

/** Returns the limits of one kind of a part: those that it inherits and does not skip, and its own one. */
function withOwn<Limit extends { readonly gate: { readonly name: string } }, Options>(
  inherited: readonly Limit[],
  options: Options | false | undefined,
  skips: Skips,
  create: (options: Options) => Limit,
): readonly Limit[] {
  const isSkipped = ({ gate }: Limit): boolean => skips === true || skips.includes(gate.name)
  const left = options === false ? [] : inherited.filter((limit) => !isSkipped(limit))
  if (options === undefined || options === false) return left
  const own = create(options)
  return [...left.filter(({ gate }) => gate.name !== own.gate.name), own]
}

function added<T extends { close(): void }>(limit: T, opened: Closables): T {
  opened.add(limit)
  return limit
}
