import type { LimiterFactories, Limiters, RateLimitOptions, ShedOptions, Sluice, SluiceOptions } from '@sluice/http'
import { type Answer, type Backend, kindOf, SluiceError } from '@sluice/limiter-core/http'
import { type LimitDecorator, limitDecorator } from './limit-decorator.ts'
import type { Wrapping } from './limited-method.ts'

/** Options of a limiter, or an existing limiter, which several methods can share and the application can close. */
type Given<Make extends (options: never) => unknown> = Parameters<Make>[0] | ReturnType<Make>

/**
 * Decorators that put limits in front of methods that handle requests. With options, each decorated method has a
 * separate limiter, shared by all instances of its class. Stacked decorators all count, the topmost first. `Args` are
 * the arguments that the framework passes to a handler.
 */
export interface LimitDecorators<Args extends readonly unknown[], Req, Res, Mounted, Extra = unknown> {
  /** Limits the request rate: `@RateLimit({ limit: 100, window: '1m' })`. Throws coded errors at class definition. */
  RateLimit(limit: Given<LimiterFactories<Req, Res, Mounted, Extra>['rateLimit']>): LimitDecorator<Args>
  /** Caps concurrent requests: `@InflightLimit({ limit: 4 })`. Permits also wait for the method's promise to settle. */
  InflightLimit(cap: Given<LimiterFactories<Req, Res, Mounted, Extra>['inflightLimit']>): LimitDecorator<Args>
  /** Delays frequent requests: `@SlowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
  SlowDown(slow: Given<LimiterFactories<Req, Res, Mounted, Extra>['slowDown']>): LimitDecorator<Args>
  /** Refuses requests while the process is overloaded, the least important first: `@Shed({ priority })`. */
  Shed(shed: NonNullable<Given<LimiterFactories<Req, Res, Mounted, Extra>['shed']>>): LimitDecorator<Args>
}

/** Limiter functions and decorators that share a backend, a clock and observers. */
export interface DecoratedSluice<
  Args extends readonly unknown[],
  Req,
  Res,
  Mounted,
  Extra = unknown,
  B extends Backend = Backend<Answer>,
> extends Sluice<Req, Res, Mounted, Extra, B>,
    LimitDecorators<Args, Req, Res, Mounted, Extra> {}

/** Functions that the package of a framework exports, including decorators. */
export interface DecoratedLimiters<Args extends readonly unknown[], Req, Res, Mounted, Extra = unknown>
  extends Limiters<Req, Res, Mounted, Extra>,
    LimitDecorators<Args, Req, Res, Mounted, Extra> {
  createSluice<B extends Backend = Backend<Answer>>(
    options?: SluiceOptions<B>,
  ): DecoratedSluice<Args, Req, Res, Mounted, Extra, B>
}

/** Adds decorators to the functions of a framework. What the framework mounts only needs to have `.wrap(handler)`. */
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

/** `Wrapping` for any type of handler. */
export interface Wrappable {
  wrap(handler: never): unknown
}

function decoratorsOf<Args extends readonly unknown[], Req, Res, Mounted extends Wrappable, Extra>({
  rateLimit,
  inflightLimit,
  slowDown,
  shed,
}: LimiterFactories<Req, Res, Mounted, Extra>): LimitDecorators<Args, Req, Res, Mounted, Extra> {
  return {
    RateLimit: maker('RateLimit', (options: RateLimitOptions<Req, Res> & Extra) => rateLimit(options)),
    InflightLimit: maker('InflightLimit', inflightLimit),
    SlowDown: maker('SlowDown', slowDown),
    Shed: maker('Shed', (options: ShedOptions<Req, Res> & Extra) => shed(options)),
  }
}

/** More than one argument means that the call with options is missing: the function itself was used as a decorator. */
function maker<Args extends readonly unknown[], Options extends object, Made extends Wrappable>(
  word: string,
  make: (options: Options) => Made,
): (given: Options | Made) => LimitDecorator<Args> {
  return (given, ...forgotten: unknown[]) => {
    if (isWrapping(given)) return limitDecorator(word, () => given)
    if (typeof given === 'object' && given !== null && forgotten.length === 0) {
      return limitDecorator(word, () => make(given as Options) as unknown as Wrapping)
    }
    const received = forgotten.length > 0 ? 'no arguments' : kindOf(given)
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `@${word}: expected options or a limiter, as in @${word}({ … }), received ${received}`,
    )
  }
}

function isWrapping(given: unknown): given is Wrapping {
  return typeof given === 'function' && typeof (given as Partial<Wrapping>).wrap === 'function'
}
