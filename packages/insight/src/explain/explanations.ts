import type { Clock, Decision } from '@sluice/limiter-core'
import { badOption, messageOf } from '@sluice/limiter-core/backend'
import type { AppliedControls } from '../control/applied-controls.ts'
import type { OperatorControl } from '../control/operator-control.ts'
import type { WatchedLimiters, WatchedPolicy } from '../control/watched-limiters.ts'
import { isCountedByBackend } from '../is-counted.ts'
import type { DenialSnapshot } from '../live/report/snapshot.ts'
import type { KeyNames } from '../live/report/top-keys.ts'
import { checkedKey } from '../requested-key.ts'
import type { ExpectedDecision, Explanation, PolicyExplanation } from './explanation.ts'
import { policyText, summaryOf } from './explanation-text.ts'

const MAX_POLICIES = 200
const MAX_DENIALS = 20

export interface ExplanationsDeps {
  readonly clock: Clock
  readonly limiters: WatchedLimiters
  readonly names: KeyNames
  readonly isWholeFleet: boolean
  readonly control: OperatorControl
  readonly applied: AppliedControls
  /** Returns recent denials of a key from all processes. */
  readonly denialsOf: (key: string) => readonly DenialSnapshot[]
}

/** Explains the limits of one key by peeking at all policies. Peeking does not consume units. */
export class Explanations {
  readonly #deps: ExplanationsDeps

  constructor(deps: ExplanationsDeps) {
    this.#deps = deps
  }

  /** Throws `SLUICE_BAD_OPTION`. */
  async explain(key: string, cost: number): Promise<Explanation> {
    checkedKey('explain', key)
    checkCost(cost)
    const { clock, limiters, names, isWholeFleet, control, denialsOf } = this.#deps
    const watched = limiters.policies().slice(0, MAX_POLICIES)
    const policies = await Promise.all(watched.map((one) => this.#explained(one, key, cost)))
    const denials = denialsOf(key)
      .toSorted((a, b) => b.at - a.at)
      .slice(0, MAX_DENIALS)
    const explained = {
      at: clock.wall(),
      key: names.shown(key),
      cost,
      policies,
      controls: control.entriesOf(key),
      denials,
      isWholeFleet,
    }
    return { ...explained, summary: summaryOf(explained) }
  }

  async #explained(watched: WatchedPolicy, key: string, cost: number): Promise<PolicyExplanation> {
    const { policy, mode, backend, perProcess } = watched.policy
    const override = watched.policy.overrideOf(key)
    const known = {
      policy: policy.name,
      mode: this.#deps.applied.modeOf(policy.name) ?? mode,
      backend,
      perProcess,
      windowMs: policy.windowMs,
      unit: policy.unit ?? 'requests',
      isOverride: override !== undefined,
      held: watched.policy.heldUnitsOf(key),
      estimate: watched.policy.estimateOf(key),
    }
    const isExempt = watched.policy.isExempt(key)
    const counts = isExempt ? uncounted(policy.limit, 'exempt') : await peeked(watched, key, cost)
    const explained = { ...known, ...counts, isExempt }
    return { ...explained, text: policyText(explained, cost) }
  }
}

type Counts = Pick<
  PolicyExplanation,
  | 'limit'
  | 'used'
  | 'remaining'
  | 'singleUnit'
  | 'requested'
  | 'availableAfterMs'
  | 'resetAfterMs'
  | 'fund'
  | 'isCounted'
  | 'source'
>

async function peeked({ limiter, index, policy }: WatchedPolicy, key: string, cost: number): Promise<Counts> {
  try {
    const one = await limiter.peek(index, key, 1)
    const requested = cost === 1 ? one : await limiter.peek(index, key, cost)
    return countsOf(one, requested)
  } catch (error) {
    return uncounted(policy.policy.limit, messageOf(error))
  }
}

function countsOf(one: Decision, requested: Decision): Counts {
  const { policy, remaining, availableAfterMs, resetAfterMs, fund } = requested.binding
  const capacity = policy.burst ?? policy.limit
  return {
    limit: capacity,
    used: Math.max(0, capacity - Math.min(capacity, remaining)),
    remaining,
    singleUnit: expectedDecision(one),
    requested: expectedDecision(requested),
    availableAfterMs,
    resetAfterMs,
    fund,
    isCounted: isCountedByBackend(requested),
    source: requested.source,
  }
}

/** Uses the verdict of the policy, because the decision is allowed if the policy is in shadow mode. */
function expectedDecision({ binding: { allowed, retryAfterMs } }: Decision): ExpectedDecision {
  return { allowed, retryAfterMs: Number.isFinite(retryAfterMs) ? retryAfterMs : null }
}

function uncounted(limit: number, source: string): Counts {
  const unlimited: ExpectedDecision = { allowed: true, retryAfterMs: 0 }
  const nothing = { used: 0, remaining: limit, availableAfterMs: 0, resetAfterMs: 0, isCounted: false }
  return { limit, ...nothing, singleUnit: unlimited, requested: unlimited, source }
}

function checkCost(cost: unknown): void {
  if (Number.isSafeInteger(cost) && (cost as number) >= 1) return
  throw badOption('explain: cost', cost, 'an integer from 1')
}
