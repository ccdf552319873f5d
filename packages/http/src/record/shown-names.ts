import { type HeaderEntry, type HttpDenial, httpDenial, stringItem } from '@sluice/limiter-core/http'
import type { LimiterReport } from '../report/limiter-report.ts'

/** A limiter and the names that it writes in headers and denials. */
export interface NamedLimiter {
  readonly report: LimiterReport
  readonly shownNames: readonly string[]
}

/** Header content and denial of one limiter for one request. */
export interface ShownCheck {
  readonly entries: readonly HeaderEntry[]
  readonly denial: HttpDenial | undefined
}

/** Matches a string of a structured list. At the start of the list or after a comma, it is the name of an item. */
const STRING = /(, )?"((?:[^"\\]|\\.)*)"/g

/** The new names of the policies of a limiter behind others; undefined if no earlier limiter uses one of its names. */
interface Renaming {
  /** The names of each limiter up to this one. A list is replaced when the policies of its limiter change. */
  readonly lists: readonly (readonly string[])[]
  readonly names: ReadonlyMap<string, string> | undefined
}

/** By limiter: most routes have the same limiters in front of it on each request. */
const renamings = new WeakMap<NamedLimiter, Renaming>()

/**
 * Renames the policies in `shown` whose names an earlier limiter of the same request also uses: the second `default`
 * of a response becomes `default-2`, so that a client can distinguish them.
 */
export function withDistinctNames(met: readonly NamedLimiter[], limiter: NamedLimiter, shown: ShownCheck): ShownCheck {
  const { names } = renamingOf(met, limiter)
  if (!names) return shown
  const nameOf = (name: string): string => names.get(name) ?? name
  const entries = shown.entries.map((entry) => renamedEntry(entry, nameOf))
  return { entries, denial: shown.denial && renamedDenial(shown.denial, nameOf) }
}

function renamingOf(met: readonly NamedLimiter[], limiter: NamedLimiter): Renaming {
  const count = met.indexOf(limiter) + 1
  const known = renamings.get(limiter)
  if (known?.lists.length === count && known.lists.every((list, index) => list === met[index].shownNames)) return known
  const lists = met.slice(0, count).map(({ shownNames }) => shownNames)
  const renaming = { lists, names: distinctNames(lists) }
  renamings.set(limiter, renaming)
  return renaming
}

/** Returns the new names of the last list, whose names must differ from those of the lists before. */
function distinctNames(lists: readonly (readonly string[])[]): ReadonlyMap<string, string> | undefined {
  const own = lists[lists.length - 1]
  const before = lists.slice(0, -1)
  if (!before.some((names) => names.some((name) => own.includes(name)))) return undefined
  const taken = new Set<string>()
  const take = (name: string): string => {
    const free = freeName(name, taken)
    taken.add(free)
    return free
  }
  for (const name of before.flat()) take(name)
  return new Map(own.map((name) => [name, take(name)]))
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name
  for (let next = 2; taken.has(free); next++) free = `${name}-${next}`
  return free
}

function renamedEntry(entry: HeaderEntry, nameOf: (name: string) => string): HeaderEntry {
  const renamed = (items: string): string =>
    items.replace(STRING, (text, comma: string | undefined, name: string, at: number) =>
      comma === undefined && at > 0 ? text : (comma ?? '') + stringItem(nameOf(plain(name))),
    )
  return { ...entry, policyItems: renamed(entry.policyItems), rateItems: renamed(entry.rateItems) }
}

function renamedDenial(denial: HttpDenial, nameOf: (name: string) => string): HttpDenial {
  return httpDenial(denial.status, denial.violated.map(nameOf), denial.retryAfterMs)
}

// RFC 9651 section 3.3.3
function plain(text: string): string {
  return text.replace(/\\(.)/g, '$1')
}
