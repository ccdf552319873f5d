import type { AttributeValue, WrittenPolicy } from '../document/policy-document.ts'
import type { AttributeSource } from './attribute-source.ts'

/** The values that each attribute of a request must have, as texts: a header that says `5` equals the number 5. */
export class AttributeMatch {
  readonly #values: ReadonlyMap<string, ReadonlySet<string>>

  constructor(match: WrittenPolicy['match'] = {}) {
    this.#values = new Map(Object.entries(match).map(([name, values]) => [name, new Set(textsOf(values))]))
  }

  /** Names of the attributes. */
  get names(): readonly string[] {
    return [...this.#values.keys()]
  }

  /** Returns the values of an attribute; undefined if the attribute may have any value. */
  valuesOf(name: string): ReadonlySet<string> | undefined {
    return this.#values.get(name)
  }

  /** Whether a request has all the attributes. */
  fits(read: AttributeSource): boolean {
    for (const [name, values] of this.#values) {
      const value = read(name)
      if (value === undefined || !values.has(String(value))) return false
    }
    return true
  }

  /** Whether all requests that this match fits also fit `other`, which fits further requests. */
  refines(other: AttributeMatch): boolean {
    return this.isWithin(other) && !other.isWithin(this)
  }

  /** Whether all requests that this match fits also fit `other`. */
  isWithin(other: AttributeMatch): boolean {
    return [...other.#values].every(([name, values]) => {
      const own = this.#values.get(name)
      return own !== undefined && [...own].every((value) => values.has(value))
    })
  }
}

/** Returns the values of an attribute as texts. */
export function textsOf(values: AttributeValue | readonly AttributeValue[]): readonly string[] {
  return Array.isArray(values) ? values.map(String) : [String(values)]
}
