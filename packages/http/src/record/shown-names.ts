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

/**
 * Renames the policies in `shown` whose names an earlier limiter of the same request also uses: the second `default`
 * of a response becomes `default-2`, so that a client can distinguish them.
 */
export function withDistinctNames(met: readonly NamedLimiter[], limiter: NamedLimiter, shown: ShownCheck): ShownCheck {
  const before = met.slice(0, met.indexOf(limiter))
  if (!before.some((other) => other.shownNames.some((name) => limiter.shownNames.includes(name)))) return shown
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const one of [...before, limiter]) {
    for (const name of one.shownNames) {
      const free = freeName(name, taken)
      taken.add(free)
      if (one === limiter) names.set(name, free)
    }
  }
  const nameOf = (name: string): string => names.get(name) ?? name
  const entries = shown.entries.map((entry) => renamedEntry(entry, nameOf))
  return { entries, denial: shown.denial && renamedDenial(shown.denial, nameOf) }
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
