import { CounterMetric } from '@sluice/fleet/metrics'
import type { Decision, Metric, ObservedRequest, Policy, PolicyVerdict } from '@sluice/limiter-core'
import type { InsightPart } from '../insight-part.ts'
import { isCountedByBackend } from '../is-counted.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { BOUNDED_BY_LABELS, MAX_NAMES, MAX_ROUTES } from './metric-limits.ts'
import { PolicySeries } from './policy-series.ts'

/** Used share of the limit from which a key counts as near its limit. */
const NEAR_LIMIT = 0.8
const RULES = ['local', 'allow', 'deny'] as const

/**
 * Metrics of decisions: outcomes by policy and route, decisions near the limit, decisions made by a failure rule, and
 * units charged or refunded afterwards.
 */
export class DecisionMetrics implements InsightPart {
  readonly #decisions = new CounterMetric({
    name: 'sluice_decisions_total',
    help: 'Policy verdicts, by outcome and route.',
    labels: ['policy', 'outcome', 'route'],
    maxSeries: BOUNDED_BY_LABELS,
  })
  readonly #nearLimit = new CounterMetric({
    name: 'sluice_near_limit_decisions_total',
    help: 'Counted verdicts after which the key had used at least 80 % of its limit.',
    labels: ['policy'],
  })
  readonly #uncounted = new CounterMetric({
    name: 'sluice_uncounted_decisions_total',
    help: 'Verdicts made by a failure rule because the backend was unavailable, by rule.',
    labels: ['policy', 'rule'],
  })
  readonly #unitsCharged = new CounterMetric({
    name: 'sluice_units_charged_total',
    help: 'Units charged after the decision.',
    labels: ['policy'],
  })
  readonly #unitsRefunded = new CounterMetric({
    name: 'sluice_units_refunded_total',
    help: 'Units refunded after the decision.',
    labels: ['policy'],
  })
  readonly #names = new LabelBound(MAX_NAMES)
  readonly #routes = new LabelBound(MAX_ROUTES)
  readonly #policies: Map<string, PolicySeries> = new Map()

  decided(_key: string, decision: Decision, request?: ObservedRequest): void {
    const route = request?.route
    const { binding } = decision
    // with a single policy the decision is its own verdict; reading `verdicts` would allocate an array
    if ((binding as unknown) === decision) this.#count(binding, route, isCountedByBackend(decision), decision.source)
    else this.#countAll(decision, route)
  }

  charged(_key: string, units: number, { name }: Policy): void {
    const policy = this.#policies.get(name) ?? this.#opened(name)
    if (units > 0) policy.unitsCharged.add(amountOf(units))
    else policy.unitsRefunded.add(amountOf(-units))
  }

  #countAll(decision: Decision, route: string | undefined): void {
    const { verdicts, countedEach, source } = decision
    const counted = isCountedByBackend(decision)
    for (let index = 0; index < verdicts.length; index++) {
      this.#count(verdicts[index], route, countedEach?.[index] ?? counted, source)
    }
  }

  *metrics(): Iterable<Metric> {
    yield* this.#decisions.metrics()
    yield* this.#nearLimit.metrics()
    yield* this.#uncounted.metrics()
    yield* this.#unitsCharged.metrics()
    yield* this.#unitsRefunded.metrics()
  }

  #count(verdict: PolicyVerdict, route: string | undefined, counted: boolean, source: string): void {
    const { policy, allowed } = verdict
    const known = this.#policies.get(policy.name) ?? this.#opened(policy.name)
    const series = known.on(route)
    if (allowed) series.allowed.add()
    else if (verdict.shadow) series.shadowDenied.add()
    else series.denied.add()
    if (!counted) this.#uncounted.add(1, this.#names.of(policy.name), ruleOf(source))
    else if (isNear(verdict)) known.nearLimit.add()
  }

  #opened(name: string): PolicySeries {
    const policy = this.#names.of(name)
    const found = this.#policies.get(policy)
    if (found !== undefined) return found
    const series = new PolicySeries({
      policy,
      decisions: this.#decisions,
      nearLimit: this.#nearLimit,
      unitsCharged: this.#unitsCharged,
      unitsRefunded: this.#unitsRefunded,
      routes: this.#routes,
    })
    this.#policies.set(policy, series)
    return series
  }
}

function isNear({ policy, remaining }: PolicyVerdict): boolean {
  const capacity = policy.burst ?? policy.limit
  return capacity - remaining >= NEAR_LIMIT * capacity
}

/** Returns the failure rule that decided. If several backends were involved, the source is a list joined by `+`. */
function ruleOf(source: string): string {
  return RULES.find((rule) => rule === source) ?? source.split('+').find(isRule) ?? 'other'
}

function isRule(source: string): boolean {
  return RULES.some((rule) => rule === source)
}
