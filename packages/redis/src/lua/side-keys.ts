import { repetitions } from '@sluice/fleet/backend'

/** Names of the Redis keys that scripts keep beside the cells of a key, in the same slot. The .lua files use them too. */

/** The key of the leases. */
export function leasesOf(cells: string): string {
  return `${cells}:leases`
}

/** The keys in which a script finds and stores what invalidates reports of usage, and the largest report itself. */
export function reportKeysOf(cells: string, server: number): readonly string[] {
  return [markOf(cells), `${cells}:told:${server}`]
}

/** The key of the mark that a reset leaves. */
export function markOf(cells: string): string {
  return `${cells}:mark`
}

/** The key of the result of a command that may arrive several times. */
export function resultOf(cells: string, id: string): string {
  return `${cells}:done:${id}`
}

/** The keys of the results of a request, for the keys of its charges. A repeated key has a result for each charge. */
export function resultsOf(cells: readonly string[], id: string): string[] {
  return repetitions(cells).map((before, index) => resultOf(cells[index], before === 0 ? id : `${id}:${before}`))
}
