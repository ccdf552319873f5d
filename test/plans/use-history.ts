import type { PlanPolicy } from './plan-site.ts'

/** What was used, whatever plan it was used under. */
export interface Use {
  readonly at: number
  readonly units: number
  readonly plan: string
}

/** What was promised of a window of this length. */
export function promiseOf(
  { algorithm, limit, windowMs, burst = limit, slices = 1 }: PlanPolicy,
  lengthMs: number,
): number {
  if (algorithm === 'token-bucket' || algorithm === 'gcra') return burst + (limit / windowMs) * lengthMs + 1e-6
  const windows = Math.ceil(lengthMs / windowMs)
  const twice = algorithm === 'fixed-window' || (algorithm === 'sliding-window' && slices === 1)
  return limit * (twice ? windows + 1 : windows)
}

/** The most that was used in any window of this length, its end left out. */
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
 * Units that fit under a policy after all of these uses: read out of the history anew, by the words of the algorithm and
 * without its cells. `own` are the plans that it is the policy of; of what others used a bucket holds `ceiling` units.
 */
export function roomAfter(
  policy: PlanPolicy,
  uses: readonly Use[],
  now: number,
  own: readonly string[],
  ceiling: number,
): number {
  const { algorithm, limit, windowMs, burst = limit, slices = 1 } = policy
  if (algorithm === 'token-bucket' || algorithm === 'gcra') {
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

/** The windows of a key follow one another, each from the first use after the one before. */
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

/** Stretches of one length that follow one another from the first use after nothing counted, and what lies in each. */
function stretches(
  uses: readonly Use[],
  now: number,
  lengthMs: number,
  kept: number,
): { start: number; units: number[] } {
  let start = Number.NEGATIVE_INFINITY
  // the newest first
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

/** Windows that follow one another, and the one before weighted until its last unit has left, where that is known. */
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
    // while some of the one before counts, nobody notes when the last one of this was
    current = { units: current.units + units, last: before.units > 0 ? start + windowMs : at }
  }
  roll(now)
  return before.units === 0 ? current.units : current.units + (before.units * (start + windowMs - now)) / windowMs
}

function inSlices(uses: readonly Use[], now: number, sliceMs: number, slices: number): number {
  const { units } = stretches(uses, now, sliceMs, slices + 1)
  return units.reduce((total, some) => total + some, 0)
}
