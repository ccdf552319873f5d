/** Divides keys into groups: keys that are used together, directly or through other keys, are in one group. */
export class KeyGroups {
  readonly #parents: number[] = []

  /** Adds a key in a group of its own. Keys have the numbers 0, 1, 2 and so on. */
  add(): void {
    this.#parents.push(this.#parents.length)
  }

  join(one: number, other: number): void {
    this.#parents[this.of(other)] = this.of(one)
  }

  /** Returns the number of the group of a key: the number of one of its keys. */
  of(key: number): number {
    let group = key
    while (this.#parents[group] !== group) {
      this.#parents[group] = this.#parents[this.#parents[group]]
      group = this.#parents[group]
    }
    return group
  }
}
