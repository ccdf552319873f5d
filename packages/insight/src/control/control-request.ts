import { randomBytes } from 'node:crypto'
import { badOption, optionsOf, parseDuration, SluiceError } from '@sluice/limiter-core/backend'
import { askedKey } from '../asked-key.ts'
import { boundedText } from '../bounded-text.ts'
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
const MODES = ['shadow', 'off'] as const
const DEFAULT_MS = 15 * 60_000
const LEAST_MS = 1_000
const MOST_MS = 24 * 3_600_000
/** After which no process does it any more. */
const RESET_MS = 60_000

/** What a request is checked against. */
export interface ControlLimits {
  readonly bounds: ControlBounds
  /** Whether any process has a policy of that name. */
  hasPolicy(name: string): boolean
}

/** A request as it is kept. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION`, `SLUICE_BAD_LIMIT`, `SLUICE_UNKNOWN_POLICY`. */
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
    throw badOption('control: action', action, Object.keys(FIELDS).join(', '))
  }
  optionsOf('control', request as object as Record<string, unknown>, [
    ...SHARED,
    ...FIELDS[action as keyof typeof FIELDS],
  ])
  switch (request.action) {
    case 'mode':
      if (!MODES.includes(request.mode)) throw badOption('control: mode', request.mode, MODES.join(' or '))
      return { action: 'mode', policy: policyOf(request.policy, limits), mode: request.mode }
    case 'limit': {
      const policy = policyOf(request.policy, limits)
      return { action: 'limit', policy, limit: limitOf(policy, request.limit, limits) }
    }
    default: {
      const { policy } = request
      const key = askedKey('control', request.key)
      return { action: request.action, key, ...(policy !== undefined && { policy: policyOf(policy, limits) }) }
    }
  }
}

function policyOf(name: unknown, { hasPolicy }: ControlLimits): string {
  if (typeof name !== 'string') throw badOption('control: policy', name, 'the name of a policy')
  if (hasPolicy(name)) return name
  throw new SluiceError(
    'SLUICE_UNKNOWN_POLICY',
    `control: policy: expected one that is watched, received '${boundedText(name)}'`,
  )
}

function limitOf(policy: string, limit: unknown, { bounds }: ControlLimits): number {
  const known = bounds.of(policy)
  if (!known) {
    const message = `control: limit: expected a policy of createInsight({ control: { limits } }), received one for '${policy}'`
    throw new SluiceError('SLUICE_BAD_LIMIT', message)
  }
  if (Number.isInteger(limit) && bounds.admits(policy, limit as number)) return limit as number
  const got = typeof limit === 'number' ? String(limit) : typeof limit
  throw new SluiceError(
    'SLUICE_BAD_LIMIT',
    `control: limit: expected ${known.min} to ${known.max} for '${policy}', received ${got}`,
  )
}

function durationMs({ duration }: ControlRequest): number {
  if (duration === undefined) return DEFAULT_MS
  const ms = parseDuration(duration, 'control: duration')
  if (ms >= LEAST_MS && ms <= MOST_MS) return ms
  throw new SluiceError(
    'SLUICE_BAD_DURATION',
    `control: duration: expected ${LEAST_MS} to ${MOST_MS}, received ${ms} ms`,
  )
}

function resetMs({ duration }: ControlRequest): number {
  if (duration === undefined) return RESET_MS
  throw badOption('control: duration', duration, 'none for a reset')
}

/** Who or why, for the audit. Throws `SLUICE_BAD_OPTION`. */
export function auditText(name: string, text: unknown): string {
  if (typeof text === 'string') return boundedText(text)
  throw badOption(`control: ${name}`, text, 'a text')
}
