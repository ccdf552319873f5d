import type { AttributeMatch } from './attribute-match.ts'

/** Places of matches by each value that they have of one attribute. */
export type PlacesByValue = Map<string, number[]>

/** Adds the place of a match under each of its values of an attribute. */
export function addPlace(byValue: PlacesByValue, match: AttributeMatch, attribute: string, place: number): void {
  for (const value of match.valuesOf(attribute) ?? []) {
    const places = byValue.get(value)
    if (places) places.push(place)
    else byValue.set(value, [place])
  }
}
