import {
  badOption,
  type Duration,
  headerText,
  integerFrom,
  optionalFunction,
  optionsOf,
  type PolicyInput,
  parseDuration,
} from '@sluice/limiter-core/http'
import type { FailureLimit, FailureLimits, LoginCheck, LoginOptions } from './login-options.ts'
import { compileNetworks, type Network } from './networks.ts'
import { DIFFICULTY, type ProofTerms, proofTerms } from './proof-of-work.ts'

/** Policies of a form, in the order of their keys. */
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
  'solved',
  'familiar',
] as const

export type LoginPolicy = (typeof POLICIES)[number]

/** Validated options with defaults. */
export interface LoginTerms {
  readonly name: string
  /** In the order of `POLICIES`. */
  readonly policies: readonly PolicyInput[]
  /** Counts the successes of an account in a window of `slowPressure`. */
  readonly credit: PolicyInput
  /** Units of `pressure` and `solved` per failure. A success gives one unit back. */
  readonly weight: number
  readonly networks: readonly Network[]
  readonly deviceTtlMs: number
  /** Undefined if the application checks all challenged clients. */
  readonly proof: ProofTerms | undefined
  readonly check: LoginCheck | undefined
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

/** Limit of policies that only tell the first use from others: a full memory backend forgets the least used keys first. */
const RARELY_REACHED = 100
const LONGEST_TTL_MS = 366 * 86_400_000

/** Validates options. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_NAME`, `SLUICE_BAD_LIMIT` or `SLUICE_BAD_DURATION`. */
export function compileLogin(options: LoginOptions): LoginTerms {
  const given = optionsOf('protectLogin', options, OPTIONS)
  const { name = 'login', usualFailures = 0.1, challenge = {}, networks = [], deviceTtl = '90d' } = given
  headerText(name, 'protectLogin: name')
  if (!(typeof usualFailures === 'number' && usualFailures >= 0.001 && usualFailures <= 1)) {
    throw badOption('protectLogin: usualFailures', usualFailures, 'a number from 0.001 to 1')
  }
  const weight = Math.round(1 / usualFailures)
  const isCheck = typeof challenge === 'function'
  const work = optionsOf('protectLogin: challenge', isCheck ? { check: challenge } : challenge, [
    ...DIFFICULTY,
    'check',
  ])
  optionalFunction('protectLogin: challenge: check', work.check)
  const deviceTtlMs = deviceTtlOf(deviceTtl)
  const limits = {
    ...pair('account', given.account, [5, '1h'], [30, '1d']),
    ...pair('address', given.address, [30, '1h'], [200, '1d']),
    ...pair('network', given.network, [100, '1h'], [1_000, '1d']),
    device: one('device', given.device, [10, '1h']),
  }
  const pressure = one('pressure', given.pressure, [50, '10m'])
  const slow = one('slowPressure', given.slowPressure, [100, '1d'])
  const inputs: Readonly<Record<LoginPolicy, FailureLimit & Pick<PolicyInput, 'algorithm'>>> = {
    ...limits,
    pressure: { ...pressure, limit: pressure.limit * weight },
    'slow-pressure': { ...slow, limit: slow.limit * weight },
    solved: { ...slow, limit: slow.limit * weight, algorithm: 'sliding-window' },
    familiar: { limit: RARELY_REACHED, window: deviceTtlMs, algorithm: 'fixed-window' },
  }
  return {
    name,
    policies: POLICIES.map((policy) => ({
      ...inputs[policy],
      name: `${name}-${policy}`,
      unit: policy === 'familiar' ? 'logins' : 'failures',
      // a log keeps no units above its limit
      ...(isPressure(policy) && { algorithm: 'sliding-window' }),
      ...(deniesNothing(policy) && { mode: 'shadow' }),
    })),
    credit: { name: `${name}-credit`, limit: RARELY_REACHED, window: slow.window, algorithm: 'fixed-window' },
    weight,
    networks: compileNetworks(networks),
    deviceTtlMs,
    proof: isCheck ? undefined : proofTerms('protectLogin: challenge', work),
    check: work.check,
  }
}

/** Whether a policy denies nothing: it challenges, or counts successes. Its mode is shadow. */
export function deniesNothing(policy: string): boolean {
  return policy.endsWith('-challenge') || isPressure(policy) || policy.endsWith('familiar')
}

/** Whether a policy counts the failures of all clients together. */
export function isPressure(policy: string): boolean {
  return policy.endsWith('pressure')
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

function deviceTtlOf(ttl: Duration): number {
  const ms = parseDuration(ttl, 'protectLogin: deviceTtl')
  if (ms > LONGEST_TTL_MS) throw badOption('protectLogin: deviceTtl', ttl, 'a duration of at most 366 days')
  return ms
}
