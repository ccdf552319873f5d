import { HyperLogLog, type SketchSeed } from '@sluice/sketches'
import { boundedText } from '../../bounded-text.ts'
import type { RouteName } from '../report/route-table.ts'
import type { RouteDaySnapshot, UniqueDaySnapshot } from '../report/snapshot.ts'
import { registersOf, sketchOfRegisters } from './unique-registers.ts'
import type { UniqueRegisters } from './unique-store.ts'

export const PRECISION = 12
export const ROUTE_PRECISION = 8
/** Name under which the keys of all routes together are stored. */
export const ALL = ''

/** Maximum number of names per day, over all processes. */
const MAX_NAMES = 256
/** Maximum number of routes per day in a snapshot: the routes with the most keys. */
const MAX_SHOWN = 10
const DAY_MS = 86_400_000

export function storedName({ route, method }: RouteName): string {
  return `${method} ${route}`
}

/** Unique keys of one day, for all routes together (4 KB) and for each route (0.4 KB). */
export class DayUniques {
  readonly #seed: SketchSeed
  readonly #sketches = new Map<string, HyperLogLog>()

  constructor(seed: SketchSeed) {
    this.#seed = seed
    this.#added(ALL, PRECISION)
  }

  merge(name: string, sketch: HyperLogLog): void {
    const known = this.#sketches.get(name)
    if (known) known.merge(sketch)
    else if (this.#sketches.size < MAX_NAMES) this.#added(name, sketch.precision).merge(sketch)
  }

  /** Merges stored registers. Returns false if they were not stored by a process with the same secret. */
  read({ name, registers }: UniqueRegisters): boolean {
    try {
      const sketch = sketchOfRegisters(registers, name === ALL ? PRECISION : ROUTE_PRECISION, this.#seed)
      this.merge(name === ALL ? name : storedName(routeOf(name)), sketch)
      return true
    } catch {
      return false
    }
  }

  entries(): UniqueRegisters[] {
    return [...this.#sketches].map(([name, sketch]) => ({ name, registers: registersOf(sketch) }))
  }

  /** `day` is the number of days since the epoch. */
  snapshot(day: number, byRoute: boolean): UniqueDaySnapshot {
    const all = { date: dateOf(day), count: this.#sketches.get(ALL)?.count() ?? 0 }
    return byRoute ? { ...all, byRoute: this.#routes() } : all
  }

  #routes(): RouteDaySnapshot[] {
    const names = [...this.#sketches].filter(([name]) => name !== ALL)
    const routes = names.map(([name, sketch]) => ({ ...routeOf(name), count: sketch.count() }))
    return routes.sort((a, b) => b.count - a.count).slice(0, MAX_SHOWN)
  }

  #added(name: string, precision: number): HyperLogLog {
    const sketch = new HyperLogLog({ precision, seed: this.#seed })
    this.#sketches.set(name, sketch)
    return sketch
  }
}

/** Returns the date of a day in UTC. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS)
}

/** Returns the time at which a day begins, in ms. */
export function startOf(day: number): number {
  return day * DAY_MS
}

function routeOf(name: string): RouteName {
  const at = name.indexOf(' ')
  return { method: boundedText(name.slice(0, Math.max(0, at))), route: boundedText(name.slice(at + 1)) }
}
