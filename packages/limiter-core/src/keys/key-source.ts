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

/** A request that is asked for its key, and how an address that stands in is cut and told of. */
interface AskedRequest {
  readonly view: RequestView
  readonly rules: AddressRules
  readonly report: ReportFallback
}

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
  const asked = { view, rules, report }
  try {
    const result: unknown = source(view.raw, view, report, rules)
    if (typeof result === 'string' || !isPromise(result)) return keyOf(result, source, asked)
    return Promise.resolve(result).then(
      (value) => keyOf(value, source, asked),
      (error: unknown) => addressInstead(asked, { reason: 'rejected', error }),
    )
  } catch (error) {
    return addressInstead(asked, { reason: 'threw', error })
  }
}

function keyOf(value: unknown, { label }: KeySource<never>, asked: AskedRequest): ResolvedKey {
  if (typeof value === 'string') {
    // an address that `byIp` would have cut
    if (label !== ADDRESS && isWholeIPv6(value, DEFAULT_RULES)) asked.report({ reason: 'whole-ipv6' })
    // No legal header value holds a NUL, but a key taken from a body can. One more in front of it keeps every named key
    // apart from every fallback key, and two named keys apart from each other.
    return value.charCodeAt(0) === 0 ? `\0${value}` : value
  }
  if (value === EXEMPT || value === DENY) return value as ResolvedKey
  if (value === undefined) return addressInstead(asked, { reason: 'undefined' })
  if (value === ANONYMOUS) return addressInstead(asked, { reason: 'anonymous' })
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  return addressInstead(asked, { reason: 'not-a-string' })
}

function addressInstead({ view, rules, report }: AskedRequest, why: KeyFallback): string {
  report(why)
  return FALLBACK + keyOfAddress(view, rules, report)
}

/**
 * The client's address as a key: what the framework says, where that is no address the socket's other end. Where neither
 * can be read it is the key `no-address`. `report` hears what is doubtful about it.
 */
export function keyOfAddress(view: RequestView, rules: AddressRules, report: ReportFallback): string {
  let ip: unknown
  try {
    ip = view.ip
  } catch {
    // a framework computes the address on demand, by a trust function that may be the user's own
  }
  const key = addressKeyOfPeer(ip, rules)
  if (key !== undefined) {
    if (view.header('forwarded') !== undefined && ip === view.peer) report({ reason: 'forwarded-unread' })
    return key
  }
  const peer = addressKeyOfPeer(view.peer, rules)
  if (peer !== undefined) {
    if (typeof ip === 'string') report({ reason: 'unreadable-address' })
    return peer
  }
  report({ reason: 'no-address' })
  return NO_ADDRESS
}
