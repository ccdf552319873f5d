import { andThen, type BanTerms, hasTaken, isPromise, type MaybePromise, type Outcome } from '@sluice/limiter-core/http'
import { FAILED_FROM, type SettleContext, wholeCostOfRequest } from '../gates/options/cost-source.ts'
import { needsOutcome } from '../gates/plan-gate.ts'
import type { RateCheck } from '../gates/rate-check.ts'
import type { LimiterReport } from '../report/limiter-report.ts'
import type { StreamBudget } from './stream-budget.ts'

/** A check of any framework. Its hooks are only called with the request and response of that framework. */
export type AnyCheck = RateCheck<never, never>

/** A request that one limiter counted. */
export interface Taken {
  readonly check: AnyCheck
  readonly report: LimiterReport
  /** Whether the decision is hidden from handlers, because it neither allows nor denies. */
  readonly silent: boolean
  /** Extends the hold while the response streams. */
  stream?: StreamBudget
  /** Names of the policies whose final cost is known. */
  settled?: Set<string>
}

/** Reports how a request ended to the policies of a limiter whose bans depend on it. */
export function reportOutcome({ check, report }: Taken, how: SettleContext): MaybePromise<void>[] {
  const { plan, limiter } = check.gate
  return plan.flatMap(({ ban }, index) => {
    const key = check.keys[index]
    const outcome = ban && needsOutcome(ban.terms) && outcomeOf(ban.terms, how)
    if (key === undefined || !outcome) return []
    return [guarded('report', report, () => limiter.bans.reportOne(index, key, outcome))]
  })
}

/** Returns how a request ended for a ban; undefined if it is not known, or if another failure than its strikes. */
function outcomeOf(
  { strikes }: Pick<BanTerms, 'strikes'>,
  { status, completed }: Pick<SettleContext, 'status' | 'completed'>,
): Outcome | undefined {
  if (status === undefined) return undefined
  if (status >= FAILED_FROM) return typeof strikes === 'string' || strikes.includes(status) ? 'failure' : undefined
  // the client of an incomplete response may have disconnected to hide a failure
  return completed ? 'success' : undefined
}

export function nameOf({ check }: Taken, index: number): string {
  return check.gate.plan[index].policy.name
}

export function move({ check }: Taken, index: number, units: number): MaybePromise<unknown> {
  return check.gate.limiter.chargeOne(index, check.keys[index] as string, units, check.decision)
}

export function settle(taken: Taken, index: number, actual: number): MaybePromise<unknown> {
  const name = nameOf(taken, index)
  if (taken.settled?.has(name) || !wasTaken(taken, index)) return undefined
  const final = wholeCostOfRequest(actual)
  taken.settled ??= new Set()
  taken.settled.add(name)
  if (taken.check.hold) return taken.check.hold.settleOne(name, final)
  const units = final - taken.check.costs[index]
  return units === 0 ? undefined : move(taken, index, units)
}

/** Whether the policy holds the cost of the request. */
export function holdsCost({ check: { gate, keys } }: Taken, policy: string): boolean {
  return gate.plan.some((one, index) => one.policy.name === policy && one.policy.maxHoldMs && keys[index] !== undefined)
}

export function extend(
  { check, report, stream }: Taken,
  units: number,
  policy: string | undefined,
): MaybePromise<boolean> {
  const wants = ({ policy: { name, maxHoldMs } }: AnyCheck['gate']['plan'][number]): boolean =>
    policy === undefined ? maxHoldMs !== undefined : name === policy
  const more = Object.fromEntries(check.gate.plan.map((one) => [one.policy.name, wants(one) ? units : 0]))
  const failed = (error: unknown): boolean => {
    report.hookFailed('extend', error, 'no more units are held')
    return false
  }
  const record = (fits: boolean): boolean => {
    if (fits) stream?.addHeld(units, policy)
    return fits
  }
  try {
    const done = andThen(check.hold?.extend(more) ?? true, record)
    return isPromise(done) ? done.catch(failed) : done
  } catch (error) {
    return failed(error)
  }
}

/** Spends the units that are still held, which would return otherwise. */
export async function spendHeld(taken: Taken): Promise<void> {
  const { hold, keys, costs } = taken.check
  if (!hold) return
  const spend = (index: number): MaybePromise<void> =>
    guarded('settle', taken.report, () =>
      settle(taken, index, taken.stream?.usedOf(nameOf(taken, index)) ?? costs[index]),
    )
  await Promise.all(keys.map((key, index) => (key === undefined ? undefined : spend(index))))
}

/** Whether the policy took units. */
export function wasTaken({ check: { decision, gate, chargedBeyond } }: Taken, index: number): boolean {
  return chargedBeyond === true || hasTaken(decision, gate.plan[index].policy.name)
}

export function guarded(what: string, report: LimiterReport, run: () => MaybePromise<unknown>): MaybePromise<void> {
  const failed = (error: unknown): void => report.hookFailed(what, error, 'the units taken so far are kept')
  try {
    const done = run()
    return isPromise(done) ? Promise.resolve(done).then(() => undefined, failed) : undefined
  } catch (error) {
    failed(error)
  }
}
