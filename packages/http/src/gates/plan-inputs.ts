import {
  allOf,
  andThen,
  EXEMPT,
  type MaybePromise,
  type ReportFallback,
  type RequestView,
  type ResolvedKey,
} from '@sluice/limiter-core/http'
import { type LimiterReport, reportUnlessPreflight } from '../report/limiter-report.ts'

import { wholeCostOfRequest } from './options/cost-source.ts'
import type { SkipHook } from './options/gate-options.ts'
import { runHook } from './options/hook.ts'
import type { KeyGroups } from './options/key-group.ts'
import type { RequestLimit } from './options/request-limits.ts'
import type { PlanGate } from './plan-gate.ts'
import { keyReport, requestKey } from './request-key.ts'

/** A request with the plan that counts it. */
export interface PlannedRequest<Req, Res> {
  readonly view: RequestView<Req>
  readonly gate: PlanGate<Req, Res>
  /** The hooks that skip the request. */
  readonly skipping: readonly SkipHook<Req>[]
}

/** Returns the key for each policy. A key source shared by several policies is called once. */
export function keysOf<Req, Res>(
  request: PlannedRequest<Req, Res>,
  report: ReportFallback,
): MaybePromise<readonly ResolvedKey[]> {
  const { keyGroups } = request.gate
  return keyGroups ? keysOfGroups(request, keyGroups, report) : keysOfEach(request, report)
}

function keysOfEach<Req, Res>(
  { view, gate: { plan, keyOf }, skipping }: PlannedRequest<Req, Res>,
  report: ReportFallback,
): MaybePromise<ResolvedKey[]> {
  const keys: MaybePromise<ResolvedKey>[] = []
  for (let index = 0; index < plan.length; index++) {
    const first = keyOf[index]
    if (isSkipped(plan[index], skipping)) keys.push(EXEMPT)
    // a skipped policy did not call the source
    else if (first < index && !isSkipped(plan[first], skipping)) keys.push(keys[first])
    else keys.push(requestKey(plan[index].key, view, report))
  }
  return allOf(keys)
}

/** Calls the key sources of the policies that apply, and of those that are in no group. */
function keysOfGroups<Req, Res>(
  { view, gate: { plan }, skipping }: PlannedRequest<Req, Res>,
  { groups, others }: KeyGroups<Req>,
  report: ReportFallback,
): MaybePromise<readonly ResolvedKey[]> {
  const keys: MaybePromise<ResolvedKey>[] = new Array(plan.length).fill(EXEMPT)
  const resolve = (index: number): void => {
    if (!isSkipped(plan[index], skipping)) keys[index] = requestKey(plan[index].key, view, report)
  }
  const found = allOf(groups.map(({ group }) => group.placesOf(view, keyReport(view, report))))
  return andThen(found, (places) => {
    for (const [at, { indexes }] of groups.entries()) {
      for (const place of places[at]) {
        const index = indexes.get(place)
        if (index !== undefined) resolve(index)
      }
    }
    for (const index of others) resolve(index)
    return allOf(keys)
  })
}

/** Returns the cost for each policy; 0 for skipped policies whose cost depends on the request. */
export function costsOf<Req, Res>(
  { view, gate: { plan, fixedCosts }, skipping }: PlannedRequest<Req, Res>,
  report: LimiterReport,
): MaybePromise<readonly number[]> {
  if (fixedCosts) return fixedCosts
  const observers = reportUnlessPreflight(view, report)
  const costs = plan.map((one): MaybePromise<number> => {
    const { fixed, of } = one.cost
    if (fixed !== undefined || isSkipped(one, skipping)) return fixed ?? 0
    return runHook('cost', () => of?.(view.raw) as MaybePromise<number>, wholeCostOfRequest, 1, observers)
  })
  return allOf(costs)
}

/** The limit and the window for each policy; undefined for policies whose limit or window depends on no request. */
export interface RequestedTerms {
  readonly limits: readonly (RequestLimit | undefined)[] | undefined
  readonly windows: readonly (number | undefined)[] | undefined
}

/** Returns the limits and windows of a request; undefined if they do not depend on requests. */
export function termsOf<Req, Res>(
  { view, gate: { plan, hasLimits, hasWindows }, skipping }: PlannedRequest<Req, Res>,
  report: LimiterReport,
): MaybePromise<RequestedTerms> | undefined {
  if (!hasLimits && !hasWindows) return undefined
  const applying = plan.map((one) => (isSkipped(one, skipping) ? undefined : one))
  const windows = hasWindows ? allOf(applying.map((one) => one?.windows?.of(view, report))) : undefined
  return andThen(windows, (lengths) => {
    const limits = hasLimits
      ? allOf(applying.map((one, index) => one?.limits?.of(view, report, lengths?.[index])))
      : undefined
    return andThen(limits, (found) => ({ limits: found, windows: lengths }))
  })
}

function isSkipped<Req>(
  { skip }: { readonly skip: SkipHook<Req> | undefined },
  skipping: readonly SkipHook<Req>[],
): boolean {
  return skipping.length > 0 && skip !== undefined && skipping.includes(skip)
}
