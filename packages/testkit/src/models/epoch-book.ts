import { added, floorDivided } from './rule.ts'

/** Units by epoch. Epochs follow one another from `origin`; each is `length / parts` ticks long. */
export class EpochBook {
  readonly #length: bigint
  readonly #parts: bigint
  #origin = 0n
  readonly #units = new Map<bigint, bigint>()

  constructor(length: bigint, parts: bigint) {
    this.#length = length
    this.#parts = parts
  }

  /** Number of the epoch in which an instant lies. */
  epochOf(instant: bigint): bigint {
    return floorDivided((instant - this.#origin) * this.#parts, this.#length)
  }

  /** When an epoch starts, in parts of a tick. */
  startOf(epoch: bigint): bigint {
    return this.#origin * this.#parts + epoch * this.#length
  }

  unitsOf(epoch: bigint): bigint {
    return this.#units.get(epoch) ?? 0n
  }

  /** Units of all epochs from `first` to `last`. */
  unitsFrom(first: bigint, last: bigint): bigint {
    let sum = 0n
    for (const [epoch, units] of this.#units) if (epoch >= first && epoch <= last) sum += units
    return sum
  }

  /** Adds units to an epoch, never below 0; returns what was added. */
  add(epoch: bigint, units: bigint): number {
    const before = this.unitsOf(epoch)
    this.#units.set(epoch, added(before, units))
    return Number(this.unitsOf(epoch) - before)
  }

  /** Forgets everything; epoch 0 starts at `origin`. */
  restart(origin: bigint): void {
    this.#units.clear()
    this.#origin = origin
  }
}
