import type { AttributeMatch } from './attribute-match.ts'
import { addPlace, type PlacesByValue } from './places-by-value.ts'

/** Matches that name the same attributes. */
interface Group {
  readonly names: readonly string[]
  /** The attribute that has the most different values; undefined if the matches name no attributes. */
  readonly attribute: string | undefined
  /** Places of the matches, by each of their values of `attribute`. */
  readonly byValue: ReadonlyMap<string, readonly number[]>
  /** Places of all matches of the group. */
  readonly places: readonly number[]
}

/** Finds the matches that include another one, without a comparison with each. */
export class MatchIndex {
  readonly #matches: readonly AttributeMatch[]
  readonly #groups: readonly Group[]

  constructor(matches: readonly AttributeMatch[]) {
    this.#matches = matches
    const places = new Map<string, number[]>()
    for (const [place, match] of matches.entries()) {
      const id = JSON.stringify([...match.names].sort())
      const known = places.get(id)
      if (known) known.push(place)
      else places.set(id, [place])
    }
    this.#groups = [...places.values()].map((all) => groupOf(matches, all))
  }

  /** Returns the places of the matches that fit all requests that `inner` fits, in ascending order. */
  including(inner: AttributeMatch): number[] {
    const found = this.#groups.flatMap((group) =>
      candidatesIn(group, inner).filter((place) => inner.isWithin(this.#matches[place])),
    )
    return found.sort((one, other) => one - other)
  }
}

/** Returns the matches of a group that may fit all requests of `inner`. */
function candidatesIn({ names, attribute, byValue, places }: Group, inner: AttributeMatch): readonly number[] {
  if (!names.every((name) => inner.valuesOf(name))) return []
  // a match that includes all values of `inner` includes the first one
  const [first] = (attribute !== undefined && inner.valuesOf(attribute)) || []
  return first === undefined ? places : (byValue.get(first) ?? [])
}

function groupOf(matches: readonly AttributeMatch[], places: readonly number[]): Group {
  const { names } = matches[places[0]]
  let attribute: string | undefined
  let byValue: PlacesByValue = new Map()
  for (const name of names) {
    const values: PlacesByValue = new Map()
    for (const place of places) addPlace(values, matches[place], name, place)
    if (attribute === undefined || values.size > byValue.size) [attribute, byValue] = [name, values]
  }
  return { names, attribute, byValue, places }
}
