import { parseDuration } from '@sluice/limiter-core/backend'
import type { CheckedPolicy } from './checked-policy.ts'
import type { PlacedFinding } from './policy-finding.ts'

/** Default of `tickMs` of synced backends. */
const DEFAULT_TICK_MS = 1_000
/** Least length of a window on a synced backend, in ticks. */
const LEAST_TICKS = 4

/** How the policies are deployed. */
export interface Deployment {
  /** Number of processes that share the limits. */
  readonly processes?: number | undefined
  /** Time between two reports of a process on a synced backend, in ms. */
  readonly syncTickMs?: number | undefined
}

/** Returns the windows and limits that are too small for several processes. */
export function fleetFindings(policies: readonly CheckedPolicy[], deployment: Deployment): PlacedFinding[] {
  return policies.flatMap((policy) => [...shortWindow(policy, deployment), ...smallLimits(policy, deployment)])
}

function shortWindow({ name, written, at }: CheckedPolicy, { syncTickMs }: Deployment): PlacedFinding[] {
  const windowMs = parseDuration(written.per, 'per')
  const found = { rule: 'short-window', policy: name, at: [...at, 'per'] } as const
  if (syncTickMs !== undefined && windowMs < LEAST_TICKS * syncTickMs) {
    const message =
      `the window of ${written.per} is too short for a synced backend: expected at least ` +
      `${LEAST_TICKS * syncTickMs} ms, which is ${LEAST_TICKS} ticks of ${syncTickMs} ms`
    return [{ ...found, severity: 'warning', message }]
  }
  if (syncTickMs !== undefined || windowMs >= DEFAULT_TICK_MS) return []
  const message =
    `the window of ${written.per} is shorter than the default tick of synced backends (${DEFAULT_TICK_MS} ms), ` +
    'which refuse it: use a backend that is exact'
  return [{ ...found, severity: 'hint', message }]
}

function smallLimits({ name, limits, overrides, unit }: CheckedPolicy, { processes = 1 }: Deployment): PlacedFinding[] {
  return [...limits, ...overrides]
    .filter(({ limit }) => limit < processes)
    .map(({ limit, at }) => ({
      ...{ rule: 'limit-below-processes', severity: 'warning', policy: name, at },
      message:
        `the limit of ${limit} ${unit} is below the number of processes (${processes}): a process cannot have a share ` +
        'of one unit, so that synced backends refuse it and the local failure rule admits more; use a longer window',
    }))
}
