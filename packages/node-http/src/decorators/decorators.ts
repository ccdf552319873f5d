import { type Answer, type Backend, kindOf, SluiceError } from '@sluice/limiter-core/http'
import type { LimiterMakers, Limiters, Sluice, SluiceOptions } from '../limits/limiters.ts'
import { type LimitDecorator, limitDecorator } from './limit-decorator.ts'
import type { Wrapping } from './limited-method.ts'

/** The options of a limiter, or one that is made already and may be shared, looked at and closed. */
type Given<Make extends (options: never) => unknown> = Parameters<Make>[0] | ReturnType<Make>

/**
 * Limits in front of methods that handle requests. Of options each decorated method has a limiter of its own, shared by
 * all instances. Stacked ones all count, the uppermost first. `Args` is what the framework calls a handler with.
 */
interface LimitDecorators<Args extends readonly unknown[], Req, Res, Mounted, Extra = unknown> {
  /** Limits rates: `@RateLimit({ limit: 100, window: '1m' })`. Throws coded errors where the class is defined. */
  RateLimit(limit: Given<LimiterMakers<Req, Res, Mounted, Extra>['rateLimit']>): LimitDecorator<Args>
  /** Caps requests in progress: `@InflightLimit({ limit: 4 })`. A place is held until the method's promise settles, too. */
  InflightLimit(cap: Given<LimiterMakers<Req, Res, Mounted, Extra>['inflightLimit']>): LimitDecorator<Args>
  /** Delays who asks too often: `@SlowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
  SlowDown(slow: Given<LimiterMakers<Req, Res, Mounted, Extra>['slowDown']>): LimitDecorator<Args>
}

/** The public words of a framework, decorators among them. */
export interface DecoratedLimiters<Args extends readonly unknown[], Req, Res, Mounted, Extra = unknown>
  extends Limiters<Req, Res, Mounted, Extra>,
    LimitDecorators<Args, Req, Res, Mounted, Extra> {
  createSluice<B extends Backend = Backend<Answer>>(
    options?: SluiceOptions<B>,
  ): Sluice<Req, Res, Mounted, Extra, B> & LimitDecorators<Args, Req, Res, Mounted, Extra>
}

/** Adds decorators to the words of a framework. They need no more of what it mounts than `.wrap(handler)`. */
export function withDecorators<Args extends readonly unknown[], Req, Res, Mounted extends Wrappable, Extra = unknown>(
  limiters: Limiters<Req, Res, Mounted, Extra>,
): DecoratedLimiters<Args, Req, Res, Mounted, Extra> {
  return {
    ...limiters,
    ...decoratorsOf(limiters),
    createSluice: (options) => {
      const sluice = limiters.createSluice(options)
      return { ...sluice, ...decoratorsOf(sluice) }
    },
  }
}

/** `Wrapping`, whatever handlers it is for. */
interface Wrappable {
  wrap(handler: never): unknown
}

function decoratorsOf<Args extends readonly unknown[], Req, Res, Mounted extends Wrappable, Extra>({
  rateLimit,
  inflightLimit,
  slowDown,
}: LimiterMakers<Req, Res, Mounted, Extra>): LimitDecorators<Args, Req, Res, Mounted, Extra> {
  return {
    RateLimit: maker('RateLimit', rateLimit),
    InflightLimit: maker('InflightLimit', inflightLimit),
    SlowDown: maker('SlowDown', slowDown),
  }
}

/** Rest arguments are those of a decorator: who forgets the options decorates with the maker itself. */
function maker<Args extends readonly unknown[], Options extends object, Made extends Wrappable>(
  word: string,
  make: (options: Options) => Made,
): (given: Options | Made) => LimitDecorator<Args> {
  return (given, ...forgotten: unknown[]) => {
    if (isWrapping(given)) return limitDecorator(word, () => given)
    if (typeof given === 'object' && given !== null && forgotten.length === 0) {
      return limitDecorator(word, () => make(given as Options) as unknown as Wrapping)
    }
    const got = forgotten.length > 0 ? 'what it decorates' : kindOf(given)
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `@${word}: expected options or a limiter: @${word}({ … }), received ${got}`,
    )
  }
}

function isWrapping(given: unknown): given is Wrapping {
  return typeof given === 'function' && typeof (given as Partial<Wrapping>).wrap === 'function'
}
