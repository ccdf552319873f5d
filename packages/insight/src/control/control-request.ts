import { randomBytes } from 'node:crypto'
import { badOption, optionsOf, parseDuration, SluiceError } from '@sluice/limiter-core/backend'
import { boundedText } from '../bounded-text.ts'
import { checkedKey } from '../requested-key.ts'
import type { ControlAction, ControlledMode, ControlRequest } from './control.ts'
import type { ControlBounds } from './control-bounds.ts'
import { happensOnce, type StoredControl } from './stored-control.ts'

const FIELDS = {
  mode: ['policy', 'cap', 'mode'],
  limit: ['policy', 'cap', 'limit'],
  block: ['key', 'policy', 'cap'],
  reset: ['key', 'policy'],
  unban: ['key', 'policy'],
} as const
const SHARED = ['action', 'duration', 'by', 'reason'] as const
const MODES = ['enforce', 'shadow', 'off'] as const
const DEFAULT_MS = 15 * 60_000
const MIN_MS = 1_000
const MAX_MS = 24 * 3_600_000
/** Time for which other processes still apply a change that happens once. */
const ONCE_MS = 60_000

/** Rules that a request is checked against. */
export interface ControlLimits {
  readonly bounds: ControlBounds
  /** Whether any known process has a policy with this name. */
  hasPolicy(name: string): boolean
  /** Whether any known process has a cap with this name. */
  hasCap(name: string): boolean
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
    endsAt: at + (happensOnce(change) ? onceMs(request) : durationMs(request)),
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
  const target = targetOf(request, limits)
  switch (request.action) {
    case 'mode':
      return { action: 'mode', ...required(target), mode: modeOf(request.mode, target, limits) }
    case 'limit':
      return { action: 'limit', ...required(target), limit: limitOf(request.limit, required(target), limits) }
    default:
      return { action: request.action, key: checkedKey('control', request.key), ...target } as ControlAction
  }
}

type Target = { readonly policy: string } | { readonly cap: string }

/** Returns the policy or cap of a request; undefined for all policies. */
function targetOf({ policy, cap }: ControlRequest, limits: ControlLimits): Target | undefined {
  if (cap !== undefined && policy !== undefined) throw badOption('control: cap', cap, 'no cap together with a policy')
  if (cap !== undefined) return { cap: nameOf('cap', cap, (name) => limits.hasCap(name)) }
  return policy === undefined ? undefined : { policy: nameOf('policy', policy, (name) => limits.hasPolicy(name)) }
}

function required(target: Target | undefined): Target {
  if (target) return target
  throw badOption('control: policy', undefined, 'the name of a policy, or cap: the name of a cap')
}

function nameOf(what: 'policy' | 'cap', name: unknown, isKnown: (name: string) => boolean): string {
  if (typeof name !== 'string') throw badOption(`control: ${what}`, name, `the name of a ${what}`)
  if (isKnown(name)) return name
  throw new SluiceError(
    'SLUICE_UNKNOWN_POLICY',
    `control: ${what}: expected the name of an observed ${what}, received '${boundedText(name)}'`,
  )
}

function modeOf(mode: unknown, target: Target | undefined, { bounds }: ControlLimits): ControlledMode {
  const known = MODES.find((one) => one === mode)
  if (known === undefined) throw badOption('control: mode', mode, `one of ${MODES.join(', ')}`)
  if (bounds.admits({ action: 'mode', mode: known, ...required(target) })) return known
  throw badOption('control: mode', mode, 'shadow or off, unless createInsight({ control: { enforce } }) lists the name')
}

function limitOf(limit: unknown, target: Target, { bounds }: ControlLimits): number {
  const [what, option] = 'cap' in target ? (['cap', 'caps'] as const) : (['policy', 'limits'] as const)
  const name = 'cap' in target ? target.cap : target.policy
  const allowed = bounds.of(target)
  if (!allowed) {
    throw new SluiceError(
      'SLUICE_BAD_LIMIT',
      `control: ${what}: expected a ${what} with bounds in createInsight({ control: { ${option} } }), received '${name}'`,
    )
  }
  if (Number.isInteger(limit) && bounds.admits({ action: 'limit', limit: limit as number, ...target })) {
    return limit as number
  }
  const received = typeof limit === 'number' ? String(limit) : typeof limit
  const expected = `an integer from ${allowed.min} to ${allowed.max} for ${what} '${name}'`
  throw new SluiceError('SLUICE_BAD_LIMIT', `control: limit: expected ${expected}, received ${received}`)
}

function durationMs({ duration }: ControlRequest): number {
  if (duration === undefined) return DEFAULT_MS
  const ms = parseDuration(duration, 'control: duration')
  if (ms >= MIN_MS && ms <= MAX_MS) return ms
  throw new SluiceError('SLUICE_BAD_DURATION', `control: duration: expected 1 second to 24 hours, received ${ms} ms`)
}

function onceMs({ action, duration }: ControlRequest): number {
  if (duration === undefined) return ONCE_MS
  throw badOption('control: duration', duration, `no duration for a ${action}, which happens once`)
}

/** Returns `by` or `reason` for the audit log, shortened to 128 characters. Throws `SLUICE_BAD_OPTION`. */
export function auditText(name: string, text: unknown): string {
  if (typeof text === 'string') return boundedText(text)
  throw badOption(`control: ${name}`, text, 'a string')
}
