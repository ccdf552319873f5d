import { isPromise } from '../contracts/maybe-promise.ts'
import type { MaybePromise } from '../contracts.ts'
import { badOption } from '../errors/bad-option.ts'
import { optionsOf } from '../options/options.ts'
import { type AddressOptions, compileAddressOptions } from './address-key.ts'
import { joinedKey } from './joined-key.ts'
import {
  ADDRESS,
  ANONYMOUS,
  DENY,
  EXEMPT,
  type KeyResult,
  type KeySource,
  keyOfAddress,
  type ResolvedKey,
  reportNothing,
  resolveKey,
} from './key-source.ts'
import { isPreflight } from './preflight.ts'

/**
 * A key source with a name for logs. `Raw` is inferred even if a source ignores it: a source of `unknown` in `byAll`
 * would remove the request type from the functions next to it.
 */
export interface LabelledKeySource<Raw = unknown> extends KeySource<Raw> {
  readonly label: string
}

export type ByIpOptions = AddressOptions

export interface ByHeaderOptions {
  /**
   * What to count if the header is missing, empty, or sent more than once (Node joins repeated headers, so that
   * arbitrary combinations would become new keys). Default: `'address'`.
   */
  readonly missing?: 'address' | 'deny' | 'exempt'
}

const MISSING = { address: ANONYMOUS, deny: DENY, exempt: EXEMPT } as const
const NO_ROUTE = '(no route)'
const ANY_METHOD = '*'

// RFC 9110 section 5.6.2
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/

/** Counts each client address as one key; an IPv6 client is its prefix. */
export function byIp<Raw = unknown>(options: ByIpOptions = {}): LabelledKeySource<Raw> {
  const rules = compileAddressOptions(options)
  return labelled(ADDRESS, (_request, view, report = reportNothing) => keyOfAddress(view, rules, report))
}

/** Counts each value of a header. Only for values that something before has verified: a client can send any. */
export function byHeader<Raw = unknown>(name: string, options: ByHeaderOptions = {}): LabelledKeySource<Raw> {
  if (typeof name !== 'string' || !TOKEN.test(name)) {
    throw badOption('byHeader', name, 'the name of a header, like "x-api-key"')
  }
  optionsOf('byHeader options', options, ['missing'])
  const { missing = 'address' } = options
  if (!Object.hasOwn(MISSING, missing)) throw badOption('byHeader missing', missing, "'address', 'deny' or 'exempt'")
  const header = name.toLowerCase()
  const instead = MISSING[missing]
  return labelled(`header ${header}`, (_request, view) => {
    // browsers never send custom headers with a preflight, so a missing header means nothing there
    return view.header(header) || (instead === DENY && isPreflight(view) ? ANONYMOUS : instead)
  })
}

/** Counts each principal, such as a user or a team. Null and undefined are visitors, who are counted by address. */
export function byPrincipal<Raw>(principal: (request: Raw) => MaybePromise<KeyResult | null>): LabelledKeySource<Raw> {
  if (typeof principal !== 'function') throw badOption('byPrincipal', principal, 'a function of the request')
  return labelled<Raw>('principal', (request) => {
    const value = principal(request)
    return isPromise(value) ? Promise.resolve(value).then(orAnonymous) : orAnonymous(value)
  })
}

function orAnonymous(value: KeyResult | null): KeyResult {
  return value ?? ANONYMOUS
}

/**
 * Counts each route by the pattern that the application declared: `GET /teams/:team`. A route with several methods is
 * one key, and HEAD counts with GET.
 */
export function byRoute<Raw = unknown>(): LabelledKeySource<Raw> {
  return labelled('route', (_request, { route, routeMethod = ANY_METHOD }) => {
    // never use the URL or the request method, because the client chooses them
    return route === undefined ? NO_ROUTE : `${routeMethod} ${route}`
  })
}

/**
 * Counts each combination of the given sources. A source without a value is replaced by the address in its own place:
 * if the whole key fell back, routes or headers of a client would merge into one count. `DENY` in any part takes
 * precedence, then `EXEMPT`.
 */
export function byAll<Raw = unknown>(...sources: readonly KeySource<Raw>[]): LabelledKeySource<Raw> {
  if (sources.length === 0) throw badOption('byAll', sources, 'one key source at least')
  for (const source of sources) {
    if (typeof source !== 'function') throw badOption('byAll', source, 'key sources')
  }
  return labelled<Raw>(sources.map(labelOf).join(' + '), (_request, view, report = reportNothing, rules) => {
    const parts = sources.map((source) => resolveKey(source, view, report, rules))
    return parts.some(isPromise) ? Promise.all(parts).then(joined) : joined(parts as ResolvedKey[])
  })
}

function joined(parts: readonly ResolvedKey[]): KeyResult {
  if (parts.includes(DENY)) return DENY
  return parts.includes(EXEMPT) ? EXEMPT : joinedKey(...(parts as string[]))
}

/** Returns the name of a source in logs: its label, or the name of the function. */
export function labelOf(source: KeySource<never>): string {
  return source.label ?? (source.name || 'own function')
}

function labelled<Raw = unknown>(label: string, source: KeySource<Raw>): LabelledKeySource<Raw> {
  return Object.assign(source, { label })
}
