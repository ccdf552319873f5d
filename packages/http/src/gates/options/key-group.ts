import type { KeySource, MaybePromise, ReportFallback, RequestView } from '@sluice/limiter-core/http'

/** Knows which of many policies apply to a request, so that the key sources of the others are not called. */
export interface KeyGroup<Raw> {
  /** Returns the places of the policies that apply, in ascending order. Never throws or rejects. */
  placesOf(view: RequestView<Raw>, report: ReportFallback): MaybePromise<readonly number[]>
}

/** A key source of a group. It returns `EXEMPT` if `placesOf` of the group does not return its place. */
export interface GroupedKeySource<Raw> {
  readonly group: KeyGroup<Raw>
  readonly place: number
}

/** Policies of a plan whose key sources are of one group. */
interface GroupedPolicies<Req> {
  readonly group: KeyGroup<Req>
  /** Indexes of the policies in the plan, by the place in the group. */
  readonly indexes: ReadonlyMap<number, number>
}

/** The policies of a plan by the groups of their key sources. */
export interface KeyGroups<Req> {
  readonly groups: readonly GroupedPolicies<Req>[]
  /** Indexes of the policies whose key sources have no group. */
  readonly others: readonly number[]
}

/** Returns the groups of the key sources of a plan; undefined if there are none. */
export function keyGroups<Req>(sources: readonly KeySource<Req>[]): KeyGroups<Req> | undefined {
  const groups = new Map<KeyGroup<Req>, Map<number, number>>()
  const others: number[] = []
  for (const [index, source] of sources.entries()) {
    const { group, place } = source as Partial<GroupedKeySource<Req>>
    // functions of an application may have properties of the same names
    const isGrouped = typeof group?.placesOf === 'function' && place !== undefined
    const indexes = isGrouped ? (groups.get(group) ?? new Map<number, number>()) : undefined
    // two layers may have the same policy
    if (isGrouped && indexes?.has(place) === false) groups.set(group, indexes.set(place, index))
    else others.push(index)
  }
  if (groups.size === 0) return undefined
  return { groups: [...groups].map(([group, indexes]) => ({ group, indexes })), others }
}
