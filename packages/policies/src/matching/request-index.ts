import type { AttributeMatch } from './attribute-match.ts'
import type { AttributeSource } from './attribute-source.ts'
import { addPlace, type PlacesByValue } from './places-by-value.ts'

const NONE: readonly number[] = []

/** Finds the matches that may fit a request by one attribute each, so that few have to be compared with it. */
export class RequestIndex {
  /** Places of the matches that name no attribute. */
  readonly #always: readonly number[]
  /** Places of the other matches, by an attribute that they name and its value. */
  readonly #byAttribute: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>

  /** `matches`: undefined for places that fit no request. */
  constructor(matches: readonly (AttributeMatch | undefined)[]) {
    const variety = varietyOf(matches)
    const always: number[] = []
    const byAttribute = new Map<string, PlacesByValue>()
    for (const [place, match] of matches.entries()) {
      if (!match) continue
      const [attribute] = match.names.toSorted((one, other) => (variety.get(other) ?? 0) - (variety.get(one) ?? 0))
      if (attribute === undefined) {
        always.push(place)
        continue
      }
      const byValue = byAttribute.get(attribute) ?? new Map()
      byAttribute.set(attribute, byValue)
      addPlace(byValue, match, attribute, place)
    }
    this.#always = always
    this.#byAttribute = byAttribute
  }

  /** Returns the places of the matches that may fit a request, in ascending order. */
  candidates(read: AttributeSource): readonly number[] {
    let found = this.#always
    for (const [attribute, byValue] of this.#byAttribute) {
      const value = read(attribute)
      const places = value === undefined ? NONE : (byValue.get(String(value)) ?? NONE)
      if (places.length > 0) found = found.length > 0 ? merged(found, places) : places
    }
    return found
  }
}

/** Returns the number of different values of each attribute. */
function varietyOf(matches: readonly (AttributeMatch | undefined)[]): ReadonlyMap<string, number> {
  const values = new Map<string, Set<string>>()
  for (const match of matches) {
    for (const name of match?.names ?? []) {
      const known = values.get(name) ?? new Set()
      values.set(name, known)
      for (const value of match?.valuesOf(name) ?? []) known.add(value)
    }
  }
  return new Map([...values].map(([name, { size }]) => [name, size]))
}

function merged(one: readonly number[], other: readonly number[]): readonly number[] {
  return [...one, ...other].sort((a, b) => a - b)
}
