import {
  InflightGate,
  type InflightLimitOptions,
  kindOf,
  RateGate,
  type RateLimitOptions,
  SlowDownGate,
  type SlowDownOptions,
  SluiceError,
  scopeOfPart,
} from '@sluice/limiter-core/http'
import { HttpInflightLimit } from '../limits/http-inflight-limit.ts'
import type { HttpLimit } from '../limits/http-limit.ts'
import { HttpRateLimit } from '../limits/http-rate-limit.ts'
import { HttpSlowDown } from '../limits/http-slow-down.ts'
import { type SharedWith, sharing } from '../limits/limiters.ts'

/** What one part of an application says: the whole of it, a class, a route. `false` removes what is said above it. */
export interface LayerOptions<Req, Res, Extra = unknown> {
  readonly rateLimit?: (RateLimitOptions<Req, Res> & Extra) | false | undefined
  readonly slowDown?: (SlowDownOptions<Req, Res> & Extra) | false | undefined
  readonly inflightLimit?: (InflightLimitOptions<Req, Res> & Extra) | false | undefined
  /** Names of policies and of caps from above that do not count here; true for all of them. */
  readonly skipLimits?: readonly string[] | true | undefined
}

/**
 * The limits of one part of an application. A part below it says what differs: a policy or a cap of the same name
 * replaces, another name stands beside. Each part that is not overridden goes on counting with its upper one.
 */
export class LimitLayer<Req, Res> {
  /** Rates first, then speed, so that nobody waits who is denied; caps last, so that nobody holds a place who waits. */
  readonly limits: readonly HttpLimit<Req, Res>[]
  readonly #rate: HttpRateLimit<Req, Res> | undefined
  readonly #slows: readonly HttpSlowDown<Req, Res>[]
  readonly #caps: readonly HttpInflightLimit<Req, Res>[]
  /** Limits and parts that were made here, and end with it. */
  readonly #opened: Closables
  readonly #inherited: Inherited

  /** The uppermost layer, which says nothing. Limits that have none above them get what is `shared`. */
  static none<Req, Res>(
    adapterOptions: readonly string[] = [],
    shared: SharedWith = sharing({}),
  ): LimitLayer<Req, Res> {
    const inherited = { adapterOptions, shared }
    return new LimitLayer<Req, Res>({ rate: undefined, slows: [], caps: [] }, new Set(), inherited)
  }

  private constructor(parts: Parts<Req, Res>, opened: Closables, inherited: Inherited) {
    const { rate, slows, caps } = parts
    this.#rate = rate
    this.#slows = slows
    this.#caps = caps
    this.#opened = opened
    this.#inherited = inherited
    this.limits = [...(rate ? [rate] : []), ...slows, ...caps]
  }

  get rates(): readonly HttpLimit<Req, Res>[] {
    return this.limits.filter((limit) => !(limit instanceof HttpInflightLimit))
  }

  get caps(): readonly HttpLimit<Req, Res>[] {
    return this.#caps
  }

  /**
   * The layer of a part; `routeScope` names it, equal in all processes. Options that the part does not say are those of
   * `above`: this layer, unless the part says several things one after the other. Throws coded errors for bad options.
   */
  below(options: LayerOptions<Req, Res>, routeScope: string, above: LimitLayer<Req, Res> = this): LimitLayer<Req, Res> {
    const skips = skipsOf(options.skipLimits)
    const opened: Closables = new Set()
    const part = { routeScope, above, opened }
    try {
      const parts = {
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

  /** Lets all go on that wait, here and in all parts below; nobody is delayed from then on. */
  letGo(): void {
    for (const one of this.#opened) one.letGo?.()
  }

  #rateBelow(
    options: LayerOptions<Req, Res>['rateLimit'],
    skips: Skips,
    { routeScope, above, opened }: Part<Req, Res>,
  ): HttpRateLimit<Req, Res> | undefined {
    const others = options === false || skips === true ? undefined : this.#rate
    if (!options && (skips === true || skips.length === 0 || !others)) return others
    const { adapterOptions, shared } = this.#inherited
    const without = skips === true ? [] : skips
    if (!options)
      return added(new HttpRateLimit((others as HttpRateLimit<Req, Res>).gate.below({ without, routeScope })), opened)
    const own = above.#rate ? options : shared.counted(options)
    const gate = others
      ? others.gate.beside({ options: own, without, routeScope }, above.#rate?.gate)
      : new RateGate<Req, Res>(shared.counted(options), adapterOptions, {
          routeScope: scopeOfPart(undefined, options, routeScope),
        })
    return added(new HttpRateLimit(gate), opened)
  }

  #slowsBelow(
    options: LayerOptions<Req, Res>['slowDown'],
    skips: Skips,
    { routeScope, above, opened }: Part<Req, Res>,
  ): readonly HttpSlowDown<Req, Res>[] {
    const left = options === false ? [] : this.#slows.filter(({ gate }) => !skipped(skips, gate.name))
    if (!options) return left
    const [first] = above.#slows
    const { adapterOptions, shared } = this.#inherited
    const gate = first
      ? first.gate.below(options, routeScope)
      : new SlowDownGate<Req, Res>(shared.counted(options), adapterOptions, scopeOfPart(undefined, options, routeScope))
    const made = added(new HttpSlowDown(gate), opened)
    return [...left.filter((slow) => slow.gate.name !== made.gate.name), made]
  }

  #capsBelow(
    options: LayerOptions<Req, Res>['inflightLimit'],
    skips: Skips,
    { routeScope, above, opened }: Part<Req, Res>,
  ): readonly HttpInflightLimit<Req, Res>[] {
    const left = options === false ? [] : this.#caps.filter(({ gate }) => !skipped(skips, gate.limiter.name))
    if (!options) return left
    const [first] = above.#caps
    const { adapterOptions, shared } = this.#inherited
    const gate = first
      ? first.gate.below(options, routeScope)
      : new InflightGate<Req, Res>(shared.watched(options), adapterOptions, routeScope)
    const made = added(new HttpInflightLimit(gate), opened)
    return [...left.filter((cap) => cap.gate.limiter.name !== made.gate.limiter.name), made]
  }
}

interface Parts<Req, Res> {
  readonly rate: HttpRateLimit<Req, Res> | undefined
  readonly slows: readonly HttpSlowDown<Req, Res>[]
  readonly caps: readonly HttpInflightLimit<Req, Res>[]
}

/** Where limits are made. */
interface Part<Req, Res> {
  readonly routeScope: string
  /** Whose options they inherit. */
  readonly above: LimitLayer<Req, Res>
  readonly opened: Closables
}

/** What every layer below the uppermost one has of it. */
interface Inherited {
  readonly adapterOptions: readonly string[]
  readonly shared: SharedWith
}

/** What a layer ends, and those of it that let requests wait. */
type Closables = Set<{ close(): void; letGo?(): void }>
type Skips = readonly string[] | true

function skipsOf(skipLimits: unknown): Skips {
  if (skipLimits === undefined || skipLimits === true) return skipLimits ?? []
  if (Array.isArray(skipLimits) && skipLimits.every((name) => typeof name === 'string')) return skipLimits
  const message = `skipLimits: expected true or names of policies and caps, received ${kindOf(skipLimits)}`
  throw new SluiceError('SLUICE_BAD_OPTION', message)
}

function skipped(skips: Skips, name: string): boolean {
  return skips === true || skips.includes(name)
}

function added<T extends { close(): void }>(limit: T, opened: Closables): T {
  opened.add(limit)
  return limit
}
