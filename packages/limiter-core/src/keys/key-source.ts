import { isPromise } from '../contracts/maybe-promise.ts'
import type { RequestHook } from '../contracts/request-hook.ts'
import type { MaybePromise, RequestView } from '../contracts.ts'
import { type AddressRules, addressKeyOfPeer, compileAddressOptions, isWholeIPv6 } from './address-key.ts'

/** An answer instead of a key: a registered symbol, so that two versions of a package in one process mean the same. */
export type KeySign<Name extends string> = symbol & { readonly description: Name }

/** Exempts a request from the policies that have this key, and from no other. Besides `skip` nothing else exempts. */
export const EXEMPT: KeySign<'sluice.exempt'> = Symbol.for('sluice.exempt') as KeySign<'sluice.exempt'>
/** Denies the request, as if the limit were spent, whatever keys of other policies say. */
export const DENY: KeySign<'sluice.deny'> = Symbol.for('sluice.deny') as KeySign<'sluice.deny'>
/** Nobody is named, as is normal for visitors: the address is counted instead, and nobody is warned. */
export const ANONYMOUS: KeySign<'sluice.anonymous'> = Symbol.for('sluice.anonymous') as KeySign<'sluice.anonymous'>

/** Numbers and bigints are written as decimal text. `undefined` counts the address instead and is reported. */
export type KeyResult = string | number | bigint | undefined | typeof EXEMPT | typeof DENY | typeof ANONYMOUS

/** Whom to count, once every fallback is done. */
export type ResolvedKey = string | typeof EXEMPT | typeof DENY

/** Why the address was counted instead of what the source was asked for; or what is doubtful about an address. */
export interface KeyFallback {
  readonly reason: 'undefined' | 'anonymous' | 'threw' | 'rejected' | 'not-a-string' | AddressDoubt
  readonly error?: unknown
}

/**
 * `no-address`: neither the framework nor the socket has one. `unreadable-address`: what the framework says is none, and
 * the socket's other end is counted. `forwarded-unread`: a proxy said in `Forwarded` who asks, and nobody read it.
 * `whole-ipv6`: the key is an IPv6 address, not its prefix.
 */
export type AddressDoubt = 'no-address' | 'unreadable-address' | 'forwarded-unread' | 'whole-ipv6'

export type ReportFallback = (fallback: KeyFallback) => void

export const reportNothing: ReportFallback = () => {}

/** Names the key of a request. Your own function takes the framework's request; built-in sources read the view. */
export type KeySource<Raw = unknown> = RequestHook<
  // the last two are for sources made of others, which hand them on to `resolveKey`
  [request: Raw, view: RequestView<Raw>, report?: ReportFallback, rules?: AddressRules],
  KeyResult
> & {
  /** For logs. */
  readonly label?: string
}

/** All requests without a readable address share this one key. */
export const NO_ADDRESS = 'no-address'
const FALLBACK = '\0address:'
/** The label of the source that counts addresses: it cuts them as it was told. */
export const ADDRESS = 'ip'
const DEFAULT_RULES = compileAddressOptions()

/**
 * The key of a request; never nothing, never a throw or a rejection of the source's. Where the source fails to name
 * one, the client's address is counted, cut by `rules`, and `report`, which must not throw, hears why. Answers at once
 * when the source does.
 */
export function resolveKey<Raw>(
  source: KeySource<Raw>,
  view: RequestView<Raw>,
  report: ReportFallback,
  rules: AddressRules = DEFAULT_RULES,
): MaybePromise<ResolvedKey> {
  const fallback = (why: KeyFallback): string => {
    report(why)
    return FALLBACK + keyOfAddress(view, rules, report)
  }
  let result: unknown
  let pending: boolean
  try {
    result = source(view.raw, view, report, rules)
    pending = isPromise(result)
  } catch (error) {
    return fallback({ reason: 'threw', error })
  }
  if (!pending) return keyOf(noticed(result, source, report), fallback)
  return Promise.resolve(result).then(
    (value) => keyOf(noticed(value, source, report), fallback),
    (error: unknown) => fallback({ reason: 'rejected', error }),
  )
}

/** The answer of a source, which is reported where it is an address that `byIp` would have cut. */
function noticed(value: unknown, { label }: KeySource<never>, report: ReportFallback): unknown {
  if (typeof value === 'string' && label !== ADDRESS && isWholeIPv6(value, DEFAULT_RULES)) {
    report({ reason: 'whole-ipv6' })
  }
  return value
}

function keyOf(value: unknown, fallback: (why: KeyFallback) => string): ResolvedKey {
  if (typeof value === 'string') return unforged(value)
  if (value === EXEMPT || value === DENY) return value as ResolvedKey
  if (value === undefined) return fallback({ reason: 'undefined' })
  if (value === ANONYMOUS) return fallback({ reason: 'anonymous' })
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  return fallback({ reason: 'not-a-string' })
}

// No legal header value holds a NUL, but a key taken from a body can. One more in front of it keeps every named key
// apart from every fallback key, and two named keys apart from each other.
function unforged(key: string): string {
  return key.charCodeAt(0) === 0 ? `\0${key}` : key
}

/**
 * The client's address as a key: what the framework says, where that is no address the socket's other end. Where neither
 * can be read it is the key `no-address`. `report` hears what is doubtful about it.
 */
export function keyOfAddress(view: RequestView, rules: AddressRules, report: ReportFallback): string {
  const ip = shownAddress(view)
  const key = addressKeyOf(ip, rules)
  if (key !== undefined) {
    if (view.header('forwarded') !== undefined && ip === view.peer) report({ reason: 'forwarded-unread' })
    return key
  }
  const peer = addressKeyOf(view.peer, rules)
  if (peer !== undefined) {
    if (typeof ip === 'string') report({ reason: 'unreadable-address' })
    return peer
  }
  report({ reason: 'no-address' })
  return NO_ADDRESS
}

function addressKeyOf(ip: unknown, rules: AddressRules): string | undefined {
  return typeof ip === 'string' ? addressKeyOfPeer(ip, rules) : undefined
}

// a framework computes the address on demand, by a trust function that may be the user's own
function shownAddress(view: RequestView): unknown {
  try {
    return view.ip
  } catch {
    return undefined
  }
}
