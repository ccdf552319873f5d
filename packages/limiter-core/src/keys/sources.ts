import { allOf, andThen } from '../contracts/maybe-promise.ts'
import type { MaybePromise } from '../contracts.ts'
import { badOption } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'
import { optionsOf } from '../options/options.ts'
import { type AddressOptions, addressKeyOfPeer, compileAddressOptions } from './address-key.ts'
import { joinedKey } from './joined-key.ts'
import {
  ANONYMOUS,
  DENY,
  EXEMPT,
  type KeyResult,
  type KeySource,
  keyOfAddress,
  NO_ADDRESS,
  ownKey,
  type ResolvedKey,
  reportNothing,
  resolveKey,
} from './key-source.ts'
import { isPreflight } from './preflight.ts'

/**
 * A key source with a name for logs. Built-in sources are generic in `Raw` although they ignore it: in `byAll`, a
 * source of `unknown` would remove the request type from the functions next to it.
 */
export interface LabelledKeySource<Raw = unknown> extends KeySource<Raw> {
  readonly label: string
}

/** A key source that combines several sources. */
export interface JoinedKeySource<Raw = unknown> extends LabelledKeySource<Raw> {
  /**
   * Returns the key that a limiter counts if the sources have these values, for example to reset it: the address of a
   * client for `byIp`, and for other sources what they return. Throws `SLUICE_BAD_KEY` unless each source has a value.
   */
  keyOf(...values: readonly (string | number | bigint)[]): string
}

export type ByIpOptions = AddressOptions

export interface ByHeaderOptions {
  /**
   * Behaviour if the header is missing, empty or sent more than once: count the client address, deny the request, or
   * exempt it. Default: `'address'`. Repeated headers are not used as a key, because Node joins them and a client could
   * create new keys by new combinations.
   */
  readonly missing?: 'address' | 'deny' | 'exempt' | undefined
}

const MISSING = { address: ANONYMOUS, deny: DENY, exempt: EXEMPT } as const
const NO_ROUTE = '(no route)'
const ANY_METHOD = '*'

// RFC 9110 section 5.6.2
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/

/** Whether a value is the name of a header. */
export function isHeaderName(name: unknown): name is string {
  return typeof name === 'string' && TOKEN.test(name)
}

/** Counts requests by client address: IPv4 addresses completely, IPv6 addresses by their prefix (default: /56). */
export function byIp<Raw = unknown>(options: ByIpOptions = {}): LabelledKeySource<Raw> {
  const rules = compileAddressOptions(options)
  const source = labelled<Raw>('ip', (_request, view, report = reportNothing) => keyOfAddress(view, rules, report))
  return Object.assign(source, { addressRules: rules })
}

/**
 * Counts requests by the value of a header. Use it only if the value is verified before the limit, such as an API key:
 * otherwise a client can send a new value with each request. Throws `SLUICE_BAD_OPTION`.
 */
export function byHeader<Raw = unknown>(name: string, options: ByHeaderOptions = {}): LabelledKeySource<Raw> {
  if (!isHeaderName(name)) {
    throw badOption('byHeader', name, "a header name such as 'x-api-key'")
  }
  optionsOf('byHeader', options, ['missing'])
  const { missing = 'address' } = options
  if (!Object.hasOwn(MISSING, missing)) throw badOption('byHeader: missing', missing, "'address', 'deny' or 'exempt'")
  const header = name.toLowerCase()
  const instead = MISSING[missing]
  return labelled(`header ${header}`, (_request, view) => {
    // browsers never send custom headers with a preflight, so a missing header must not deny it
    return view.header(header) || (instead === DENY && isPreflight(view) ? ANONYMOUS : instead)
  })
}

/**
 * Counts requests by principal, such as a user or a team. Requests for which the function returns null or undefined are
 * counted by client address, without a warning. Throws `SLUICE_BAD_OPTION`.
 */
export function byPrincipal<Raw>(principal: (request: Raw) => MaybePromise<KeyResult | null>): LabelledKeySource<Raw> {
  if (typeof principal !== 'function') throw badOption('byPrincipal', principal, 'a function of the request')
  return labelled<Raw>('principal', (request) => andThen(principal(request), (value) => value ?? ANONYMOUS))
}

/**
 * Counts requests by route, with the pattern that the application declared: `GET /teams/:team`. A route with several
 * methods is one key, HEAD counts as GET, and requests without a route share one key. A limiter in front of the router,
 * such as in `app.use` of Express, sees no routes, and warns with `SLUICE_NO_ROUTE`.
 */
export function byRoute<Raw = unknown>(): LabelledKeySource<Raw> {
  return labelled('route', (_request, { route, knowsRoutes, routeMethod = ANY_METHOD }, report = reportNothing) => {
    // never use the URL or the request method, because the client chooses them
    if (route !== undefined) return `${routeMethod} ${route}`
    if (!knowsRoutes) report({ reason: 'no-route' })
    return NO_ROUTE
  })
}

/**
 * Counts requests by the combination of several sources, such as `byAll(byIp(), byRoute())`. If a source provides no
 * key, only its part of the key is replaced by the client address, so that for example routes stay separate. If any
 * source returns `DENY`, the request is denied; otherwise, if any returns `EXEMPT`, it is exempt. Throws
 * `SLUICE_BAD_OPTION`.
 */
export function byAll<Raw = unknown>(...sources: readonly KeySource<Raw>[]): JoinedKeySource<Raw> {
  if (sources.length === 0) throw badOption('byAll', sources, 'at least one key source')
  for (const source of sources) {
    if (typeof source !== 'function') throw badOption('byAll', source, 'key sources such as byIp()')
  }
  const source = labelled<Raw>(sources.map(labelOf).join(' + '), (_request, view, report = reportNothing, rules) => {
    return andThen(allOf(sources.map((one) => resolveKey(one, view, report, rules))), joined)
  })
  return Object.assign(source, { keyOf: (...values: readonly (string | number | bigint)[]) => keyOf(sources, values) })
}

const isValue = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'bigint' || Number.isFinite(value)

function keyOf(sources: readonly KeySource<never>[], values: readonly (string | number | bigint)[]): string {
  if (values.length !== sources.length || !values.every(isValue)) {
    const received = values.map(kindOf).join(', ') || 'nothing'
    throw new SluiceError(
      'SLUICE_BAD_KEY',
      `keyOf: expected ${sources.length} strings or numbers, received ${received}`,
    )
  }
  const parts = sources.map(({ addressRules }, index) =>
    addressRules ? (addressKeyOfPeer(values[index], addressRules) ?? NO_ADDRESS) : ownKey(values[index]),
  )
  return joinedKey(...parts)
}

function joined(parts: readonly ResolvedKey[]): KeyResult {
  if (parts.includes(DENY)) return DENY
  return parts.includes(EXEMPT) ? EXEMPT : joinedKey(...(parts as string[]))
}

/** Returns the name of a source in logs: its label, the name of the function, or `own function`. */
export function labelOf(source: KeySource<never>): string {
  return source.label ?? (source.name || 'own function')
}

function labelled<Raw = unknown>(label: string, source: KeySource<Raw>): LabelledKeySource<Raw> {
  return Object.assign(source, { label })
}
