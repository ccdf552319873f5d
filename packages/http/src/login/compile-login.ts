import {
  badOption,
  type Duration,
  headerText,
  integerFrom,
  type MaybePromise,
  optionsOf,
  type PolicyInput,
  parseDuration,
  parseTimerMs,
} from '@sluice/limiter-core/http'
import type { FailureLimit, FailureLimits, LoginOptions, LoginRequest, ProofOptions } from './login-options.ts'
import { compileNetworks, type Network } from './networks.ts'
import { CLOCK_SKEW_MS } from './proof-of-work.ts'

/** Policies of a form, in the order of their keys. Names that end with `pressure` or `-challenge` deny nothing. */
export const POLICIES = [
  'account',
  'account-challenge',
  'address',
  'address-challenge',
  'network',
  'network-challenge',
  'device',
  'pressure',
  'slow-pressure',
  'proof',
] as const

export type LoginPolicy = (typeof POLICIES)[number]

/** Validated options with defaults. */
export interface LoginTerms {
  readonly name: string
  /** In the order of `POLICIES`. */
  readonly policies: readonly PolicyInput[]
  /** Counts one success per account and window of `pressure`. */
  readonly credit: PolicyInput
  /** Units of `pressure` per failure. A success gives one unit back. */
  readonly weight: number
  readonly networks: readonly Network[]
  readonly deviceTtlMs: number
  readonly proof: { readonly bits: number; readonly maxBits: number; readonly ttlMs: number }
  readonly check: ((request: LoginRequest) => MaybePromise<boolean>) | undefined
}

const OPTIONS = [
  'secret',
  'name',
  'account',
  'address',
  'networks',
  'network',
  'device',
  'pressure',
  'slowPressure',
  'usualFailures',
  'deviceTtl',
  'challenge',
  'backend',
  'scope',
  'clock',
  'observers',
  'onBackendError',
  'deadlineMs',
] as const

/** More would take minutes on a telephone. */
const MOST_BITS = 24
const LONGEST_TTL_MS = 366 * 86_400_000

/** Validates options. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_NAME`, `SLUICE_BAD_LIMIT` or `SLUICE_BAD_DURATION`. */
export function compileLogin(options: LoginOptions): LoginTerms {
  const given = optionsOf('protectLogin', options, OPTIONS)
  const { name = 'login', usualFailures = 0.05, challenge = {}, networks = [], deviceTtl = '90d' } = given
  headerText(name, 'protectLogin: name')
  if (!(typeof usualFailures === 'number' && usualFailures >= 0.001 && usualFailures <= 1)) {
    throw badOption('protectLogin: usualFailures', usualFailures, 'a number from 0.001 to 1')
  }
  const weight = Math.round(1 / usualFailures)
  const proof = proofTerms(typeof challenge === 'function' ? {} : challenge)
  const limits = {
    ...pair('account', given.account, [5, '1h'], [30, '1d']),
    ...pair('address', given.address, [30, '1h'], [200, '1d']),
    ...pair('network', given.network, [100, '1h'], [1_000, '1d']),
    device: one('device', given.device, [10, '1h']),
  }
  const pressure = one('pressure', given.pressure, [50, '10m'])
  const slow = one('slowPressure', given.slowPressure, [1_000, '1d'])
  const inputs: Readonly<Record<LoginPolicy, FailureLimit>> = {
    ...limits,
    pressure: { ...pressure, limit: pressure.limit * weight },
    'slow-pressure': { ...slow, limit: slow.limit * weight },
    proof: { limit: 1, window: proof.ttlMs + 2 * CLOCK_SKEW_MS },
  }
  return {
    name,
    policies: POLICIES.map((policy) => ({
      ...inputs[policy],
      name: `${name}-${policy}`,
      unit: 'failures',
      ...(onlyChallenges(policy) && { mode: 'shadow' }),
    })),
    credit: { name: `${name}-credit`, limit: 1, window: pressure.window },
    weight,
    networks: compileNetworks(networks),
    deviceTtlMs: deviceTtlOf(deviceTtl),
    proof,
    check: typeof challenge === 'function' ? challenge : undefined,
  }
}

/** Whether a policy only challenges: it is in shadow mode, so that it denies nothing. */
export function onlyChallenges(policy: string): boolean {
  return policy.endsWith('-challenge') || policy.endsWith('pressure')
}

type Terms = readonly [limit: number, window: Duration]
type Who = 'account' | 'address' | 'network'

function pair<W extends Who>(
  who: W,
  limits: FailureLimits | undefined,
  challenge: Terms,
  deny: Terms,
): Record<W | `${W}-challenge`, FailureLimit> {
  const given = optionsOf(`protectLogin: ${who}`, limits === undefined ? {} : limits, ['challenge', 'deny'])
  return {
    [`${who}-challenge`]: one(`${who}.challenge`, given.challenge, challenge),
    [who]: one(`${who}.deny`, given.deny, deny),
  } as Record<W | `${W}-challenge`, FailureLimit>
}

function one(option: string, given: FailureLimit | undefined, [limit, window]: Terms): FailureLimit {
  const owner = `protectLogin: ${option}`
  const terms = optionsOf(owner, given === undefined ? { limit, window } : given, ['limit', 'window'])
  return {
    limit: integerFrom(`${owner}: limit`, terms.limit, 1, 1_000_000_000),
    window: parseDuration(terms.window, `${owner}: window`),
  }
}

function proofTerms(options: ProofOptions): LoginTerms['proof'] {
  const owner = 'protectLogin: challenge'
  const given = optionsOf(owner, options, ['bits', 'maxBits', 'ttl'])
  const { ttl = '2m' } = given
  const bits = integerFrom(`${owner}: bits`, given.bits === undefined ? 16 : given.bits, 1, MOST_BITS)
  const { maxBits = Math.min(MOST_BITS, bits + 4) } = given
  integerFrom(`${owner}: maxBits`, maxBits, bits, MOST_BITS)
  return { bits, maxBits, ttlMs: parseTimerMs(ttl, `${owner}: ttl`) }
}

function deviceTtlOf(ttl: Duration): number {
  const ms = parseDuration(ttl, 'protectLogin: deviceTtl')
  if (ms > LONGEST_TTL_MS) throw badOption('protectLogin: deviceTtl', ttl, 'a duration of at most 366 days')
  return ms
}
