import type { FilePolicy } from './file-policy.ts'
import { MatchIndex } from './match-index.ts'

/** Returns the index of what the policies match. */
export function indexOf(policies: readonly FilePolicy[]): MatchIndex {
  return new MatchIndex(policies.map(({ match }) => match))
}

/** Returns, for each policy, the places of the policies that it replaces, in ascending order. */
export function replacementsBy(
  policies: readonly FilePolicy[],
  index: MatchIndex = indexOf(policies),
): readonly (readonly number[])[] {
  const named = new Map<string, number[]>()
  for (const [place, { name }] of policies.entries()) named.set(name, [...(named.get(name) ?? []), place])
  return policies.map((policy) => {
    const written = (policy.written.replaces ?? []).flatMap((name) => named.get(name) ?? [])
    // a policy that refines another one matches some of its requests
    const candidates = new Set([...index.including(policy.match), ...written])
    return [...candidates].filter((place) => policy.replaces(policies[place])).sort((one, other) => one - other)
  })
}

/** Returns, for each policy, the places of the policies that replace it, in ascending order. */
export function replacersOf(policies: readonly FilePolicy[], index: MatchIndex): readonly (readonly number[])[] {
  const replacers: number[][] = policies.map(() => [])
  for (const [place, replaced] of replacementsBy(policies, index).entries()) {
    for (const other of replaced) replacers[other].push(place)
  }
  return replacers
}
