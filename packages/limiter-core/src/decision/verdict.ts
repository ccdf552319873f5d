import type { Answer, AnsweredVerdict, Decision, Fund, Policy, PolicyVerdict } from '../contracts.ts'

/** A flat verdict. It is a class, so that all verdicts share one hidden class. */
export class ChargeVerdict implements PolicyVerdict {
  readonly policy: Policy
  readonly shadow: boolean
  readonly allowed: boolean
  readonly remaining: number
  readonly retryAfterMs: number
  readonly resetAfterMs: number
  readonly availableAfterMs: number

  constructor(
    policy: Policy,
    shadow: boolean,
    remaining: number,
    retryAfterMs: number,
    resetAfterMs: number,
    availableAfterMs: number = atTheLatest(retryAfterMs, resetAfterMs),
  ) {
    this.policy = policy
    this.shadow = shadow
    this.allowed = retryAfterMs === 0
    this.remaining = remaining
    this.retryAfterMs = retryAfterMs
    this.resetAfterMs = resetAfterMs
    this.availableAfterMs = availableAfterMs
  }
}

/** A decision over the verdicts of one request. Derived numbers are getters: most requests read one or two of them. */
export class RequestDecision implements Decision {
  readonly verdicts: readonly PolicyVerdict[]
  readonly takenAt: number
  readonly takenAts: readonly number[] | undefined
  readonly counted: boolean
  readonly countedEach: readonly boolean[] | undefined
  readonly source: string
  readonly allowed: boolean

  constructor(answer: Answer) {
    // of a foreign backend failover has completed them
    this.verdicts = answer.verdicts as readonly PolicyVerdict[]
    this.takenAt = answer.takenAt
    this.takenAts = answer.takenAts
    this.counted = answer.counted
    this.countedEach = answer.countedEach
    this.source = answer.source
    this.allowed = !vetoed(answer.verdicts)
  }

  get binding(): PolicyVerdict {
    let binding = this.verdicts[0]
    for (let index = 1; index < this.verdicts.length; index++) {
      if (binds(this.verdicts[index], binding)) binding = this.verdicts[index]
    }
    return binding
  }

  toJSON(): Decision {
    return plainDecision(this)
  }

  get retryAfterMs(): number {
    let longest = 0
    for (const verdict of this.verdicts) {
      if (!verdict.shadow && verdict.retryAfterMs > longest) longest = verdict.retryAfterMs
    }
    return longest
  }
}

/** When more is left, where only the other waits are known. */
export function atTheLatest(retryAfterMs: number, resetAfterMs: number): number {
  return retryAfterMs || Math.ceil(resetAfterMs)
}

/** Whether an enforced policy denies. */
export function vetoed(verdicts: readonly Pick<PolicyVerdict, 'allowed' | 'shadow'>[]): boolean {
  for (const verdict of verdicts) if (!verdict.allowed && !verdict.shadow) return true
  return false
}

// enforced before shadow, denied before allowed, the longer wait, then the smaller part left
function binds(a: PolicyVerdict, b: PolicyVerdict): boolean {
  if (a.shadow !== b.shadow) return b.shadow
  if (a.allowed !== b.allowed) return b.allowed
  if (a.retryAfterMs !== b.retryAfterMs) return a.retryAfterMs > b.retryAfterMs
  return a.remaining / a.policy.limit < b.remaining / b.policy.limit
}

/** Copies a decision without getters, for logs and replies. */
export function plainDecision(decision: Decision): Decision {
  const { allowed, retryAfterMs, takenAt, counted, source } = decision
  return {
    allowed,
    verdicts: decision.verdicts.map(plainVerdict),
    binding: plainVerdict(decision.binding),
    retryAfterMs,
    takenAt,
    counted,
    source,
  }
}

/** Copies a verdict without getters, completed with members that a backend may omit. Does not validate the verdict. */
export function plainVerdict(verdict: AnsweredVerdict): PolicyVerdict {
  const { policy, shadow, allowed, remaining, retryAfterMs, resetAfterMs, fund } = verdict
  const { availableAfterMs = atTheLatest(retryAfterMs, resetAfterMs) } = verdict
  return withFund({ policy, shadow, allowed, remaining, retryAfterMs, resetAfterMs, availableAfterMs }, fund)
}

/**
 * Returns the verdict with its fund if it is known. The member is added only then, so that other verdicts keep one
 * hidden class.
 */
export function withFund<V extends PolicyVerdict>(verdict: V, fund: Fund | undefined): V {
  return fund === undefined ? verdict : Object.assign(verdict, { fund })
}
