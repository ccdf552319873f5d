import type { SeededRandom } from '@sluice/testkit'

/** How many pairs or triples there are, and in how many runs the rarest of them was in effect. */
export interface Coverage {
  readonly combinations: number
  readonly least: number
  readonly rarest: readonly string[]
}

/** Counts the runs in which each pair and each triple of features was in effect together. */
export class FeatureCounts {
  readonly #names: readonly string[]
  readonly #numbers: ReadonlyMap<string, number>
  /** Counts by the numbers of three features in ascending order; the count of a pair is at (i, j, j). */
  readonly #counts: Uint32Array
  readonly #triples: Uint32Array

  /** `excludes`: pairs of features that no limiter can have together. */
  constructor(names: readonly string[], excludes: readonly (readonly [string, string])[]) {
    this.#names = names
    this.#numbers = new Map(names.map((name, index) => [name, index]))
    this.#counts = new Uint32Array(names.length ** 3)
    const excluded = new Set(excludes.flatMap(([one, other]) => [`${one} ${other}`, `${other} ${one}`]))
    const fits = (...some: readonly number[]): boolean =>
      some.every((a) => some.every((b) => !excluded.has(`${names[a]} ${names[b]}`)))
    const triples: number[] = []
    for (let i = 0; i < names.length; i++) {
      for (let j = i + 1; j < names.length; j++) {
        if (!fits(i, j)) continue
        triples.push(this.#at(i, j, j))
        for (let k = j + 1; k < names.length; k++) if (fits(i, j, k)) triples.push(this.#at(i, j, k))
      }
    }
    this.#triples = Uint32Array.from(triples)
  }

  /** Counts a run. Throws for a feature that was not declared. */
  add(features: ReadonlySet<string>): void {
    const numbers = [...features].map((name) => {
      const number = this.#numbers.get(name)
      if (number === undefined) throw new RangeError(`expected a declared feature, received '${name}'`)
      return number
    })
    numbers.sort((a, b) => a - b)
    for (let i = 0; i < numbers.length; i++) {
      for (let j = i + 1; j < numbers.length; j++) {
        for (let k = j; k < numbers.length; k++) this.#counts[this.#at(numbers[i], numbers[j], numbers[k])]++
      }
    }
  }

  /** Returns the features of one of the rarest triples. The search starts at a random triple. */
  rarest(random: SeededRandom): readonly string[] {
    const all = this.#triples
    const start = random.whole(all.length)
    let rarest = all[start]
    for (let step = 1; step < all.length && this.#counts[rarest] > 0; step++) {
      const at = all[(start + step) % all.length]
      if (this.#counts[at] < this.#counts[rarest]) rarest = at
    }
    return this.#namesAt(rarest)
  }

  get pairs(): Coverage {
    return this.#coverage((names) => names.length === 2)
  }

  get triples(): Coverage {
    return this.#coverage((names) => names.length === 3)
  }

  #coverage(counts: (names: readonly string[]) => boolean): Coverage {
    let combinations = 0
    let rarest: number | undefined
    for (const at of this.#triples) {
      if (!counts(this.#namesAt(at))) continue
      combinations++
      if (rarest === undefined || this.#counts[at] < this.#counts[rarest]) rarest = at
    }
    return rarest === undefined
      ? { combinations, least: 0, rarest: [] }
      : { combinations, least: this.#counts[rarest], rarest: this.#namesAt(rarest) }
  }

  #at(i: number, j: number, k: number): number {
    return (i * this.#names.length + j) * this.#names.length + k
  }

  #namesAt(at: number): readonly string[] {
    const count = this.#names.length
    const numbers = [Math.floor(at / count / count), Math.floor(at / count) % count, at % count]
    return [...new Set(numbers)].map((number) => this.#names[number])
  }
}
