import { drainingNames } from '../algorithms/any-policy.ts'
import type { PlanPolicy } from './plan-site.ts'

/** Units used, under any plan. */
export interface Use {
  readonly at: number
  readonly units: number
  readonly plan: string
}

/** Promised maximum for a window of this length. */
export function promiseOf(
  { algorithm, limit, windowMs, burst = limit, slices = 1 }: PlanPolicy,
  lengthMs: number,
): number {
  if (drainingNames.includes(algorithm)) return burst + (limit / windowMs) * lengthMs + 1e-6
  const windows = Math.ceil(lengthMs / windowMs)
  const twice = algorithm === 'fixed-window' || (algorithm === 'sliding-window' && slices === 1)
  return limit * (twice ? windows + 1 : windows)
}

/** Maximum used in any half-open window of this length. */
export function mostIn(uses: readonly Use[], lengthMs: number): number {
  let most = 0
  let sum = 0
  let first = 0
  for (const { at, units } of uses) {
    sum += units
    while (uses[first].at <= at - lengthMs) sum -= uses[first++].units
    most = Math.max(most, sum)
  }
  return most
}

/**
 * Units that fit under a policy after all of these uses, computed from the history by the definition of the algorithm,
 * without its cells. `own` are the plans of the policy; a bucket holds `ceiling` units of the use under other plans.
 */
export function roomAfter(
  policy: PlanPolicy,
  uses: readonly Use[],
  now: number,
  own: readonly string[],
  ceiling: number,
): number {
  const { algorithm, limit, windowMs, burst = limit, slices = 1 } = policy
  if (drainingNames.includes(algorithm)) {
    return burst - drained(uses, now, limit / windowMs, own, ceiling)
  }
  if (algorithm === 'sliding-log') return limit - sum(uses.filter(({ at }) => at > now - windowMs))
  if (algorithm === 'fixed-window') return limit - inFixedWindow(uses, now, windowMs)
  return limit - (slices === 1 ? weighted(uses, now, windowMs) : inSlices(uses, now, windowMs / slices, slices))
}

function sum(uses: readonly Use[]): number {
  return uses.reduce((total, { units }) => total + units, 0)
}

function drained(uses: readonly Use[], now: number, perMs: number, own: readonly string[], ceiling: number): number {
  let used = 0
  let at = 0
  for (const use of [...uses, { at: now, units: 0, plan: '' }]) {
    used = Math.max(0, used - (use.at - at) * perMs)
    at = use.at
    const fitting = own.includes(use.plan) ? use.units : Math.min(use.units, ceiling - used)
    used += Math.max(0, fitting)
  }
  return used
}

/** Consecutive windows of a key, each starting with the first use after the previous window. */
function inFixedWindow(uses: readonly Use[], now: number, windowMs: number): number {
  let start = Number.NEGATIVE_INFINITY
  let used = 0
  for (const { at, units } of uses) {
    if (at >= start + windowMs) {
      start = at
      used = 0
    }
    used += units
  }
  return now >= start + windowMs ? 0 : used
}

/** Consecutive intervals of one length, starting with the first use after an empty count, with the units in each. */
function stretches(
  uses: readonly Use[],
  now: number,
  lengthMs: number,
  kept: number,
): { start: number; units: number[] } {
  let start = Number.NEGATIVE_INFINITY
  // newest first
  let units = new Array<number>(kept).fill(0)
  const roll = (to: number): void => {
    while (start + lengthMs <= to && units.some((some) => some > 0)) {
      units = [0, ...units.slice(0, -1)]
      start += lengthMs
    }
  }
  for (const use of uses) {
    roll(use.at)
    if (units.every((some) => some === 0)) start = use.at
    units[0] += use.units
  }
  roll(now)
  return { start, units }
}

/** Consecutive windows; the previous one is weighted until its last unit has expired, if that time is known. */
function weighted(uses: readonly Use[], now: number, windowMs: number): number {
  const none = { units: 0, last: 0 }
  let start = Number.NEGATIVE_INFINITY
  let before = none
  let current = none
  const roll = (to: number): void => {
    if (to >= start + windowMs) {
      before = to < start + 2 * windowMs ? current : none
      current = none
      start += windowMs
    }
    if (to >= before.last + windowMs) before = none
  }
  for (const { at, units } of uses) {
    roll(at)
    if (before.units + current.units === 0) start = at
    // while part of the previous window counts, the time of the last unit in this window is not recorded
    current = { units: current.units + units, last: before.units > 0 ? start + windowMs : at }
  }
  roll(now)
  return before.units === 0 ? current.units : current.units + (before.units * (start + windowMs - now)) / windowMs
}

function inSlices(uses: readonly Use[], now: number, sliceMs: number, slices: number): number {
  const { units } = stretches(uses, now, sliceMs, slices + 1)
  return units.reduce((total, some) => total + some, 0)
}
