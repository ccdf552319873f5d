import { randomBytes } from 'node:crypto'
import { badOption, optionsOf, parseDuration, SluiceError } from '@sluice/limiter-core/backend'
import { boundedText } from '../bounded-text.ts'
import { checkedKey } from '../requested-key.ts'
import type { ControlAction, ControlRequest } from './control.ts'
import type { ControlBounds } from './control-bounds.ts'
import type { StoredControl } from './stored-control.ts'

const FIELDS = {
  mode: ['policy', 'mode'],
  limit: ['policy', 'limit'],
  block: ['key', 'policy'],
  reset: ['key', 'policy'],
} as const
const SHARED = ['action', 'duration', 'by', 'reason'] as const
const MODES = ['enforce', 'shadow', 'off'] as const
const DEFAULT_MS = 15 * 60_000
const MIN_MS = 1_000
const MAX_MS = 24 * 3_600_000
/** Time for which other processes still apply a reset that they receive. */
const RESET_MS = 60_000

/** Rules that a request is checked against. */
export interface ControlLimits {
  readonly bounds: ControlBounds
  /** Whether any known process has a policy with this name. */
  hasPolicy(name: string): boolean
}

/**
 * Validates a request and converts it to a stored change. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION`,
 * `SLUICE_BAD_LIMIT` or `SLUICE_UNKNOWN_POLICY`.
 */
export function storedControl(request: ControlRequest, limits: ControlLimits, at: number): StoredControl {
  const change = changeOf(request, limits)
  const { by = 'code', reason } = request
  return {
    id: randomBytes(12).toString('base64url'),
    change,
    at,
    endsAt: at + (change.action === 'reset' ? resetMs(request) : durationMs(request)),
    by: auditText('by', by),
    ...(reason !== undefined && { reason: auditText('reason', reason) }),
  }
}

function changeOf(request: ControlRequest, limits: ControlLimits): ControlAction {
  const action: unknown = request?.action
  if (typeof action !== 'string' || !Object.hasOwn(FIELDS, action)) {
    throw badOption('control: action', action, `one of ${Object.keys(FIELDS).join(', ')}`)
  }
  optionsOf('control', request as object as Record<string, unknown>, [
    ...SHARED,
    ...FIELDS[action as keyof typeof FIELDS],
  ])
  switch (request.action) {
    case 'mode':
      return { action: 'mode', policy: policyOf(request.policy, limits), mode: modeOf(request, limits) }
    case 'limit': {
      const policy = policyOf(request.policy, limits)
      return { action: 'limit', policy, limit: limitOf(policy, request.limit, limits) }
    }
    default: {
      const { policy } = request
      const key = checkedKey('control', request.key)
      return { action: request.action, key, ...(policy !== undefined && { policy: policyOf(policy, limits) }) }
    }
  }
}

function policyOf(name: unknown, { hasPolicy }: ControlLimits): string {
  if (typeof name !== 'string') throw badOption('control: policy', name, 'the name of a policy')
  if (hasPolicy(name)) return name
  throw new SluiceError(
    'SLUICE_UNKNOWN_POLICY',
    `control: policy: expected the name of an observed policy, received '${boundedText(name)}'`,
  )
}

function modeOf({ policy, mode }: { readonly policy: string; readonly mode: unknown }, { bounds }: ControlLimits) {
  const known = MODES.find((one) => one === mode)
  if (known === undefined) throw badOption('control: mode', mode, `one of ${MODES.join(', ')}`)
  if (known !== 'enforce' || bounds.mayEnforce(policy)) return known
  throw badOption('control: mode', mode, 'shadow or off; list the policy in createInsight({ control: { enforce } })')
}

function limitOf(policy: string, limit: unknown, { bounds }: ControlLimits): number {
  const allowed = bounds.of(policy)
  if (!allowed) {
    throw new SluiceError(
      'SLUICE_BAD_LIMIT',
      `control: policy: expected a policy with bounds in createInsight({ control: { limits } }), received '${policy}'`,
    )
  }
  if (Number.isInteger(limit) && bounds.admits(policy, limit as number)) return limit as number
  const received = typeof limit === 'number' ? String(limit) : typeof limit
  const expected = `an integer from ${allowed.min} to ${allowed.max} for policy '${policy}'`
  throw new SluiceError('SLUICE_BAD_LIMIT', `control: limit: expected ${expected}, received ${received}`)
}

function durationMs({ duration }: ControlRequest): number {
  if (duration === undefined) return DEFAULT_MS
  const ms = parseDuration(duration, 'control: duration')
  if (ms >= MIN_MS && ms <= MAX_MS) return ms
  throw new SluiceError('SLUICE_BAD_DURATION', `control: duration: expected 1 second to 24 hours, received ${ms} ms`)
}

function resetMs({ duration }: ControlRequest): number {
  if (duration === undefined) return RESET_MS
  throw badOption('control: duration', duration, 'no duration for a reset, which happens once')
}

/** Returns `by` or `reason` for the audit log, shortened to 128 characters. Throws `SLUICE_BAD_OPTION`. */
export function auditText(name: string, text: unknown): string {
  if (typeof text === 'string') return boundedText(text)
  throw badOption(`control: ${name}`, text, 'a string')
}
