import { andThen, badOption, integerFrom, type MaybePromise, optionsOf } from '@sluice/limiter-core/backend'
import { ReserveClass, type ReserveStats } from './reserve-class.ts'

/** How a request ended, as `cost.settle` receives it. */
interface Ending {
  readonly completed: boolean
  /** Units that the handler has reported with `req.sluice.used`. */
  readonly used?: number | undefined
}

export interface LearnedReserveOptions<Req extends object, Res> {
  /** Class of similar requests, such as the model that they ask for. Default: all requests are one class. */
  readonly by?: ((req: Req) => string) | undefined
  /** Returns the final cost of a request; undefined if it is unknown, which is not learned. */
  readonly settle: (req: Req, res: Res, how: Ending) => MaybePromise<number | undefined>
  /** Units that a request reserves until its class has 20 costs, an integer of at least 1. */
  readonly initial: number
  /** Share of requests whose cost the reservation covers: above 0 and below 1. Default: 0.95. */
  readonly quantile?: number | undefined
  /** Least and most units to reserve, integers of at least 1. Default: 1 and 2^53 - 1. */
  readonly min?: number | undefined
  readonly max?: number | undefined
  /** Maximum number of classes, an integer of at least 1; the class that was used least recently is forgotten. Default: 1,000. */
  readonly maxClasses?: number | undefined
}

/** The option `cost` of `rateLimit`, whose reservation is learned. */
export interface LearnedCost<Req extends object, Res> {
  readonly reserve: (req: Req) => number
  readonly settle: (req: Req, res: Res, how: Ending) => MaybePromise<number | undefined>
  /** Aborted requests settle and teach too: they cost what they have used. */
  readonly settleOn: 'always'
}

/** A reservation that is learned from the cost of earlier requests. */
export interface LearnedReserve<Req extends object, Res> {
  readonly cost: LearnedCost<Req, Res>
  /** Returns how well the reservations have covered the costs, by class. */
  stats(): ReadonlyMap<string, ReserveStats>
}

/** A request in progress. */
interface Reserved {
  readonly name: string
  readonly units: number
}

/**
 * Creates the option `cost` of `rateLimit`, with a reservation of what similar requests have used: the 95th percentile by
 * default, from a t-digest of the last one to two thousand costs of a class. Throws `SLUICE_BAD_OPTION`.
 */
export function learnedReserve<Req extends object, Res>(
  options: LearnedReserveOptions<Req, Res>,
): LearnedReserve<Req, Res> {
  const names = ['by', 'settle', 'initial', 'quantile', 'min', 'max', 'maxClasses'] as const
  const given = optionsOf('learnedReserve', options, names)
  const { by = () => '', settle, quantile = 0.95 } = given
  if (typeof by !== 'function') throw badOption('learnedReserve: by', by, 'a function of the request')
  if (typeof settle !== 'function')
    throw badOption('learnedReserve: settle', settle, 'a function that returns the cost')
  if (!(quantile > 0 && quantile < 1)) throw badOption('learnedReserve: quantile', quantile, 'a number between 0 and 1')
  const initial = integerFrom('learnedReserve: initial', given.initial, 1)
  const min = integerFrom('learnedReserve: min', given.min ?? 1, 1)
  const max = integerFrom('learnedReserve: max', given.max ?? Number.MAX_SAFE_INTEGER, min)
  const maxClasses = integerFrom('learnedReserve: maxClasses', given.maxClasses ?? 1_000, 1)
  const classes = new Map<string, ReserveClass>()
  const inProgress = new WeakMap<Req, Reserved>()

  const classOf = (name: string): ReserveClass => {
    const found = classes.get(name) ?? new ReserveClass(quantile)
    // a map keeps the order in which keys were added
    classes.delete(name)
    classes.set(name, found)
    if (classes.size > maxClasses) classes.delete(classes.keys().next().value as string)
    return found
  }
  const reserveOf = (one: ReserveClass | undefined): number =>
    Math.min(max, Math.max(min, Math.ceil(one?.quantile ?? initial)))

  const cost: LearnedCost<Req, Res> = {
    settleOn: 'always',
    reserve(req) {
      const name = String(by(req))
      const units = reserveOf(classes.get(name))
      inProgress.set(req, { name, units })
      return units
    },
    settle(req, res, how) {
      return andThen(settle(req, res, how), (actual) => {
        const reserved = inProgress.get(req)
        // as in policies, the largest cost stands for larger ones
        const learned = Math.min(actual ?? Number.NaN, Number.MAX_SAFE_INTEGER)
        if (reserved && learned >= 0) classOf(reserved.name).learn(reserved.units, learned)
        return actual
      })
    },
  }
  return {
    cost,
    stats: () => new Map([...classes].map(([name, one]) => [name, one.stats(reserveOf(one))])),
  }
}
