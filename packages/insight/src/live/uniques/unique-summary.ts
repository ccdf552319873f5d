import type { KeySource } from '@sluice/limiter-core'
import { isPromise, type ObservedRequest } from '@sluice/limiter-core/backend'
import { resolveKey } from '@sluice/limiter-core/http'
import type { HyperLogLog, SketchSeed } from '@sluice/sketches'
import type { RouteUniquesReport, UniquesReport } from '../report/process-report.ts'
import { type RouteName, RouteTable } from '../report/route-table.ts'
import type { RouteUniquesSnapshot, UniquesSnapshot } from '../report/snapshot.ts'
import { UniqueKeys } from '../report/unique-keys.ts'
import { ALL, PRECISION, ROUTE_PRECISION, storedName } from './day-uniques.ts'
import type { UniqueStore } from './unique-store.ts'

/** Options for counting unique keys. */
export interface UniqueOptions {
  /**
   * Key source that identifies what is counted. Custom functions receive the request of the framework. Default: the key
   * of the decision.
   */
  // biome-ignore lint/suspicious/noExplicitAny: sources take the request of their framework, whichever that is
  readonly by?: KeySource<any> | undefined
  /** Also counts by route: 200 routes, and all further routes together. Takes 6 KB to 17 KB per route. */
  readonly per?: 'route' | undefined
  /**
   * Store that keeps days, such as `redisUniqueStore(client)`. Requires `secret` of the insight, because keys can only
   * be merged if they are hashed with the same secret. Default: none; unique keys are lost when the process ends.
   */
  readonly store?: UniqueStore | undefined
  /** Number of days to keep, including today: 1 to 31. Default: 31. */
  readonly days?: number | undefined
}

/** Maximum number of routes per report. The others are included in later reports. */
const MAX_REPORTED = 16

interface RouteUniques {
  readonly name: RouteName
  readonly keys: UniqueKeys
}

/** Unique keys seen by this process, merged with the keys reported by other processes. */
export class UniqueSummary {
  readonly #options: UniqueOptions
  readonly #keys: UniqueKeys
  readonly #routes: RouteTable<RouteUniques>
  #now: number
  #reported = 0

  constructor(options: UniqueOptions, seed: SketchSeed, at: number) {
    this.#options = options
    this.#now = at
    this.#keys = new UniqueKeys({ precision: PRECISION, seed }, at)
    this.#routes = new RouteTable((name) => {
      return { name, keys: new UniqueKeys({ precision: ROUTE_PRECISION, seed }, this.#now) }
    })
  }

  /** Counts the request. If unique keys are counted by route, returns a callback to run when the route is known. */
  decided(key: string, request: ObservedRequest | undefined): ((route: ObservedRequest) => void) | undefined {
    const { by, per } = this.#options
    if (!by || !request?.view) {
      this.#keys.add(key)
      return per && ((end) => this.#ofRoute(end).add(key))
    }
    const resolved = resolveKey(by, request.view, () => {})
    const add = (one: unknown, end?: ObservedRequest): void => {
      if (typeof one === 'string') (end ? this.#ofRoute(end) : this.#keys).add(one)
    }
    if (isPromise(resolved)) void resolved.then((one) => add(one))
    else add(resolved)
    return per && ((end) => (isPromise(resolved) ? void resolved.then((one) => add(one, end)) : add(resolved, end)))
  }

  advance(at: number): void {
    this.#now = at
    this.#keys.advance(at)
    for (const { keys } of this.#routes.values()) keys.advance(at)
  }

  report(): UniquesReport {
    const routes = this.#routes.values()
    const count = Math.min(routes.length, MAX_REPORTED)
    const reported = Array.from({ length: count }, (_, index): RouteUniquesReport => {
      const { name, keys } = routes[(this.#reported + index) % routes.length]
      return { ...name, quarter: keys.quarter() }
    })
    this.#reported += count
    return { quarter: this.#keys.quarter(), hour: this.#keys.anyHour(), routes: reported }
  }

  /** Merges the report of another process. Throws if a sketch is invalid. */
  merge({ quarter, hour, routes }: UniquesReport): void {
    this.#keys.mergeQuarter(quarter)
    if (hour) this.#keys.mergeHour(hour)
    if (this.#options.per === undefined) return
    for (const one of routes) this.#routes.of(one.route, one.method).keys.mergeQuarter(one.quarter)
  }

  /** Yields the sketches of a UTC day with the names under which they are stored. */
  *ofDay(day: number): Iterable<[name: string, sketch: HyperLogLog]> {
    yield [ALL, this.#keys.ofDay(day)]
    if (this.#options.per === undefined) return
    for (const { name, keys } of this.#routes.values()) yield [storedName(name), keys.ofDay(day)]
  }

  snapshot(): UniquesSnapshot {
    const all = { hour: this.#keys.hour(), day: this.#keys.day() }
    if (this.#options.per === undefined) return all
    const byRoute = this.#routes.values().map(({ name, keys }): RouteUniquesSnapshot => {
      return { ...name, hour: keys.hour(), day: keys.day() }
    })
    return { ...all, byRoute }
  }

  #ofRoute({ route, method }: ObservedRequest): UniqueKeys {
    return this.#routes.of(route, method).keys
  }
}
