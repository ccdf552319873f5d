import type { HeaderLine } from '@sluice/limiter-core/http'

/** The header fields of limits that have to change so that a response contains the fields of one server only. */
export interface FieldChanges {
  /** Names of the fields to remove, in lower case. */
  readonly removed: readonly string[]
  readonly added: readonly HeaderLine[]
}

/** Statuses with which an upstream denies a request. */
const DENIALS = [429, 503]

/** Whether a header describes a limit, in the form of any draft or vendor. */
export function isLimitField(name: string): boolean {
  // most names are ruled out without the regular expression, which takes longer
  return name.includes('imit') && /rate-?limit/i.test(name)
}

/** Whether a header describes a limit of another server. `ours`: the header lines of the limits of this server. */
export function isForeignField(name: string, value: unknown, ours: readonly HeaderLine[]): boolean {
  if (!isLimitField(name)) return false
  for (const [own, ownValue] of ours) {
    if (own.length === name.length && ownValue === value && own.toLowerCase() === name.toLowerCase()) return false
  }
  return true
}

/**
 * Returns the changes to a response whose handler has set fields of limits, such as a proxy that passes on the fields of
 * its upstream. The limits of this server replace all of them, except if the upstream denied the request: then only the
 * upstream's fields describe the denial. Returns undefined if there is nothing to change. `names`: the names of all
 * headers, in lower case; `ours`: the header lines of the limits of this server.
 */
export function limitFieldChanges(
  status: number,
  names: readonly string[],
  read: (name: string) => unknown,
  ours: readonly HeaderLine[],
): FieldChanges | undefined {
  if (ours.length === 0) return undefined
  const isForeign = (name: string): boolean => isForeignField(name, read(name), ours)
  const foreign = names.filter(isForeign)
  if (foreign.length === 0) return undefined
  if (!DENIALS.includes(status)) return { removed: foreign, added: ours }
  const added = foreign.flatMap((name) => withoutOurs(name, read(name), ours))
  return { removed: names.filter((name) => isLimitField(name) && !isForeign(name)), added }
}

/** Returns the field with the values that an upstream appended to ours; nothing for any other field. */
function withoutOurs(name: string, value: unknown, ours: readonly HeaderLine[]): HeaderLine[] {
  if (!Array.isArray(value)) return []
  const theirs = value.filter((one) => isForeignField(name, one, ours))
  return theirs.length < value.length ? [[name, theirs.join(', ')]] : []
}
