import type { PolicyVerdict } from '@sluice/limiter-core'
import { type Account, type Expected, mostInWindow, type Seen, type Spent } from './account.ts'
import type { Check } from './decision-laws.ts'
import type { DrawnSetup } from './drawn-setup.ts'

/** Tolerance of the time until a key is unused: sums of doubles are rounded. */
const EPSILON_MS = 0.001

/** Checks that the numbers of a key are those of its model, if it has one. `now`: time of its storage. */
export function checkModel(check: Check, account: Account, seen: Seen, now: number): void {
  const expected = seen.isBanned ? undefined : account.expected(now, 0)
  if (!expected) return
  const details = [account.policy.name, account.key, seen, expected]
  // a unit of a weighted window may count longer after a charge that was undone
  const isLeft = account.wasUndone ? seen.remaining <= expected.remaining : seen.remaining === expected.remaining
  check('what is left is what the model has', isLeft, ...details)
  const laterMs = seen.resetAfterMs - expected.resetAfterMs
  const isNear = Math.abs(laterMs) <= EPSILON_MS + expected.resetAfterMs * 1e-9
  const isUndone = account.wasUndone && laterMs >= 0
  check('a key is unused when the model is', expected.held > 0 || isNear || isUndone, ...details)
}

/** Checks the verdict about a cost. */
export function checkVerdict(
  check: Check,
  account: Account,
  verdict: PolicyVerdict,
  cost: number,
  expected: Expected,
): void {
  const { ban, retry } = account.drawn.input
  const fits = expected.retryAfterMs === 0
  const details = [verdict.policy.name, account.key, cost, verdict, expected]
  check('no more is allowed than fits', !verdict.allowed || fits, ...details)
  // a banned key, or one with booked turns, is denied also if the cost fits
  if (ban || retry || account.wasUndone) return
  check('what fits is allowed', verdict.allowed === fits, ...details)
  const isWait = expected.held > 0 || verdict.retryAfterMs === expected.retryAfterMs
  check('the wait is the wait of the model', isWait, ...details)
}

/** Checks what the policy of an account guarantees for the last window. `now`: time of the process. */
export function checkGuarantee(check: Check, { spent, policy, drawn, key }: Account, now: number): void {
  if (drawn.windows || drawn.limits) return
  let units = 0
  for (const one of spent) if (one.at > now - policy.windowMs) units += one.units
  check('no more is admitted than is guaranteed', units <= mostInWindow(policy), policy.name, key, units)
}

type Views = readonly [before: ReadonlyMap<string, Seen>, after: ReadonlyMap<string, Seen>]

/** Checks that units that were taken under one plan are used under the other one. */
export function checkOtherPlan(
  { check, plans }: { readonly check: Check; readonly plans: DrawnSetup['plans'] },
  key: string,
  [before, after]: Views,
  spent: ReadonlyMap<string, Spent>,
): void {
  for (const [name, seen] of after) {
    const was = before.get(name)
    const all = plans.flat().filter(({ input }) => input.name === name)
    // a unit of another limit has another weight
    const varies = all.some(
      ({ limits, windows, override, storage }) => limits || windows || override || storage !== 'memory',
    )
    if (!was || was.isBanned || seen.isBanned || varies) continue
    const left = Math.max(0, was.remaining - (spent.get(name)?.units ?? 0))
    check('what one plan takes is used under the other', seen.remaining <= left, name, key, was, seen)
  }
}
