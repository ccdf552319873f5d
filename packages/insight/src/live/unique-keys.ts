import { HyperLogLog, type SketchSeed } from '@sluice/sketches'

const QUARTER_MS = 900_000
const QUARTERS = 4
const HOURS = 24

export interface UniqueKeysOptions {
  /** Of the sketches: each has 2^precision bytes. */
  readonly precision: number
  /** The same in all processes. */
  readonly seed: SketchSeed
}

/** A sketch of a quarter of an hour or of an hour, by its number since the epoch. */
export type UniquesPart = readonly [number: number, sketch: string]

/**
 * Different keys of the last hour and day: sketches of the last four quarters of an hour and of 24 hours. To merge one
 * twice changes nothing, so processes send theirs again and again, and one that came late learns of what was before.
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

  /** Turns to a new quarter where one began, and takes what was added into its hour. */
  advance(at: number): void {
    this.#sketchOf(this.#hours, hourOf(this.#number)).merge(this.#quarter)
    const number = quarterOf(at)
    if (number === this.#number) return
    this.#number = number
    this.#quarter = this.#sketchOf(this.#quarters, number)
    forget(this.#quarters, number - QUARTERS)
    forget(this.#hours, hourOf(number) - HOURS)
  }

  /** Takes in what another process counted in a quarter. Throws what `HyperLogLog` does. */
  mergeQuarter([number, sketch]: UniquesPart): void {
    const read = this.#read(sketch)
    if (number > this.#number - QUARTERS && number <= this.#number + 1)
      this.#sketchOf(this.#quarters, number).merge(read)
    this.#mergeHour(hourOf(number), read)
  }

  mergeHour([number, sketch]: UniquesPart): void {
    this.#mergeHour(number, this.#read(sketch))
  }

  /** The quarter that runs. */
  quarter(): UniquesPart {
    return [this.#number, base64(this.#quarter)]
  }

  /** One of the hours that are known, another one each time. */
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

  /** As of the last `advance`. */
  day(): number {
    return this.#count(this.#hours)
  }

  /** Of the hours of a day by UTC that are known, of those that began less than a day ago. */
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
