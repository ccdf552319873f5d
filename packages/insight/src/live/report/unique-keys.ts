import { HyperLogLog, type SketchSeed } from '@sluice/sketches'

const QUARTER_MS = 900_000
const QUARTERS = 4
const HOURS = 24

export interface UniqueKeysOptions {
  /** Precision of the sketches, which take 2^precision bytes each. */
  readonly precision: number
  /** Seed of the sketches, identical in all processes. */
  readonly seed: SketchSeed
}

/** Serialised sketch of a quarter hour or an hour. `number` counts these periods since the epoch. */
export type UniquesPart = readonly [number: number, sketch: string]

/**
 * Unique keys of the last hour and day: sketches of the last four quarter hours and the last 24 hours. Merging is
 * idempotent, so processes send their sketches repeatedly, and a process that starts late also receives earlier hours.
 */
export class UniqueKeys {
  readonly #options: UniqueKeysOptions
  readonly #quarters = new Map<number, HyperLogLog>()
  readonly #hours = new Map<number, HyperLogLog>()
  #quarter: HyperLogLog
  #number: number
  #sentHour = 0

  constructor(options: UniqueKeysOptions, at: number) {
    this.#options = options
    this.#number = quarterOf(at)
    this.#quarter = this.#sketchOf(this.#quarters, this.#number)
  }

  add(key: string): void {
    this.#quarter.add(key)
  }

  /** Merges the current quarter into its hour, and starts a new quarter if the current one has ended. */
  advance(at: number): void {
    this.#sketchOf(this.#hours, hourOf(this.#number)).merge(this.#quarter)
    const number = quarterOf(at)
    if (number === this.#number) return
    this.#number = number
    this.#quarter = this.#sketchOf(this.#quarters, number)
    forget(this.#quarters, number - QUARTERS)
    forget(this.#hours, hourOf(number) - HOURS)
  }

  /** Merges a quarter of another process. Throws if the sketch is invalid. */
  mergeQuarter([number, sketch]: UniquesPart): void {
    const read = this.#read(sketch)
    if (number > this.#number - QUARTERS && number <= this.#number + 1)
      this.#sketchOf(this.#quarters, number).merge(read)
    this.#mergeHour(hourOf(number), read)
  }

  mergeHour([number, sketch]: UniquesPart): void {
    this.#mergeHour(number, this.#read(sketch))
  }

  /** Returns the current quarter. */
  quarter(): UniquesPart {
    return [this.#number, base64(this.#quarter)]
  }

  /** Returns one of the stored hours, a different one on each call. */
  anyHour(): UniquesPart | undefined {
    const hours = [...this.#hours]
    if (hours.length === 0) return undefined
    this.#sentHour = (this.#sentHour + 1) % hours.length
    const [number, sketch] = hours[this.#sentHour]
    return [number, base64(sketch)]
  }

  hour(): number {
    return this.#count(this.#quarters)
  }

  /** Unique keys of the last 24 hours, as of the last `advance`. */
  day(): number {
    return this.#count(this.#hours)
  }

  /** Returns the unique keys of a UTC day, from the stored hours (the last 24). */
  ofDay(day: number): HyperLogLog {
    const all = new HyperLogLog(this.#options)
    for (const [hour, sketch] of this.#hours) if (Math.floor(hour / HOURS) === day) all.merge(sketch)
    return all
  }

  #mergeHour(number: number, read: HyperLogLog): void {
    const now = hourOf(this.#number)
    if (number > now - HOURS && number <= now + 1) this.#sketchOf(this.#hours, number).merge(read)
  }

  #read(sketch: string): HyperLogLog {
    return HyperLogLog.fromBytes(new Uint8Array(Buffer.from(sketch, 'base64')), { seed: this.#options.seed })
  }

  #sketchOf(sketches: Map<number, HyperLogLog>, number: number): HyperLogLog {
    const sketch = sketches.get(number) ?? new HyperLogLog(this.#options)
    sketches.set(number, sketch)
    return sketch
  }

  #count(sketches: Map<number, HyperLogLog>): number {
    const all = new HyperLogLog(this.#options)
    for (const sketch of sketches.values()) all.merge(sketch)
    return all.count()
  }
}

function quarterOf(at: number): number {
  return Math.floor(at / QUARTER_MS)
}

function hourOf(quarter: number): number {
  return Math.floor(quarter / QUARTERS)
}

function forget(sketches: Map<number, HyperLogLog>, until: number): void {
  for (const number of sketches.keys()) if (number <= until) sketches.delete(number)
}

function base64(sketch: HyperLogLog): string {
  return Buffer.from(sketch.toBytes()).toString('base64')
}
