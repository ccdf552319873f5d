import { badValue } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'
import { type Duration, parseMs } from '../time/duration.ts'

/**
 * Failure rule: how requests are decided while a backend does not answer.
 * - `'local'`: by the same policies in this process, starting from the last known counts. N processes may admit N
 *   limits.
 * - `{ local: { share } }`: likewise, with a part of each limit, at least one unit. N processes with a share of 1/N
 *   admit one limit together.
 * - `'allow'`: all requests are admitted.
 * - `'deny'`: all requests are denied.
 */
export type BackendErrorRule = 'local' | 'allow' | 'deny' | { readonly local: { readonly share: number } }

/** Behaviour while a backend is slow or unavailable. */
export interface FailoverOptions {
  /** Failure rule. A share must be above 0 and at most 1. Default: `'local'`. */
  readonly onBackendError?: BackendErrorRule | undefined
  /** Longest time to wait for a backend, from 1 to 60,000 ms. Default: 50 ms. */
  readonly deadlineMs?: Duration | undefined
}

/** Validated `FailoverOptions`. */
export interface FailoverRule {
  readonly deadlineMs: number
  /** The rule, as it appears in `decision.source`. */
  readonly source: 'local' | 'allow' | 'deny'
  /** Part of each limit that this process admits under the rule `local`; 1 for other rules. */
  readonly share: number
}

const DEADLINE_MS = 50
const MAX_DEADLINE_MS = 60_000

/** Validates options. Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. */
export function compileFailover({ onBackendError = 'local', deadlineMs = DEADLINE_MS }: FailoverOptions): FailoverRule {
  const ms = parseMs(deadlineMs, 'deadlineMs')
  if (!(ms >= 1 && ms <= MAX_DEADLINE_MS)) {
    throw badValue('SLUICE_BAD_DURATION', 'deadlineMs', deadlineMs, `from 1 ms to ${MAX_DEADLINE_MS} ms`)
  }
  if (onBackendError === 'local' || onBackendError === 'allow' || onBackendError === 'deny') {
    return { deadlineMs: ms, source: onBackendError, share: 1 }
  }
  return { deadlineMs: ms, source: 'local', share: shareOf(onBackendError) }
}

function shareOf(rule: unknown): number {
  const { local, ...others } = objectOf(rule)
  const { share, ...more } = objectOf(local)
  const isAlone = Object.keys({ ...others, ...more }).length === 0
  if (isAlone && typeof share === 'number' && share > 0 && share <= 1) return share
  const received = share === undefined ? shown(rule, 'onBackendError') : `a share of ${shown(share, 'share')}`
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `onBackendError: expected 'local', 'allow', 'deny' or { local: { share } } with a share above 0 and at most 1, ` +
      `received ${received}`,
  )
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
