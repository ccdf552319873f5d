import { boundedText } from '../../bounded-text.ts'
import { OTHER } from './bounded-table.ts'
import { MAX_ROUTES } from './process-report.ts'

/** Displayed for requests without a route. */
export const NO_ROUTE = '(none)'

/** Displayed for further methods: some runtimes pass on every method that a client invents. */
const OTHER_METHOD = '_OTHER'
const MAX_METHODS = 40

/** Displayed name of a route. */
export interface RouteName {
  readonly route: string
  readonly method: string
}

/** Values by route and method, created on first use: up to 200 routes of 40 methods, and one shared value for all others. */
export class RouteTable<T> {
  readonly #methods = new Map<string, Map<string, T>>()
  readonly #values: T[] = []
  readonly #make: (name: RouteName) => T
  #other: T | undefined

  constructor(make: (name: RouteName) => T) {
    this.#make = make
  }

  /** `route` is undefined if the route of a request is unknown. */
  of(route: string = NO_ROUTE, method = ''): T {
    return this.#methods.get(method)?.get(route) ?? this.#added(route, method)
  }

  values(): readonly T[] {
    return this.#values
  }

  #added(route: string, method: string): T {
    const name = { route: boundedText(route), method: this.#shownMethod(method) }
    // long names with the same displayed form share a value
    const known = this.#methods.get(name.method)?.get(name.route)
    if (known) return known
    if (this.#values.length >= MAX_ROUTES || (route === OTHER && method === '')) return this.#rest()
    const routes = this.#methods.get(name.method) ?? new Map<string, T>()
    this.#methods.set(name.method, routes)
    const value = this.#make(name)
    routes.set(name.route, value)
    this.#values.push(value)
    return value
  }

  #shownMethod(method: string): string {
    const shown = boundedText(method)
    return this.#methods.has(shown) || this.#methods.size < MAX_METHODS ? shown : OTHER_METHOD
  }

  #rest(): T {
    if (this.#other === undefined) {
      this.#other = this.#make({ route: OTHER, method: '' })
      this.#values.push(this.#other)
    }
    return this.#other
  }
}
