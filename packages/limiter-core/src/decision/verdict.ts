import type { Answer, BackendVerdict, Decision, Fund, Policy, PolicyVerdict } from '../contracts.ts'

/** The verdict of one charge. A class, so that all verdicts have the same hidden class in V8. */
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
    availableAfterMs: number = defaultAvailableAfterMs(retryAfterMs, resetAfterMs),
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

/** The decision of all policies of one request. Derived values are getters, because most requests read few of them. */
export class RequestDecision implements Decision {
  readonly verdicts: readonly PolicyVerdict[]
  readonly takenAt: number
  readonly takenAts: readonly number[] | undefined
  readonly counted: boolean
  readonly countedEach: readonly boolean[] | undefined
  readonly source: string
  readonly allowed: boolean

  /** Returns the decision of an answer, which backends in memory return as a decision already. */
  static of(answer: Answer): RequestDecision {
    return answer instanceof RequestDecision ? answer : new RequestDecision(answer)
  }

  constructor(answer: Answer) {
    // failover has filled in the optional properties that a custom backend may omit
    this.verdicts = answer.verdicts as readonly PolicyVerdict[]
    this.takenAt = answer.takenAt
    this.takenAts = answer.takenAts
    this.counted = answer.counted
    this.countedEach = answer.countedEach
    this.source = answer.source
    this.allowed = !hasDenial(answer.verdicts)
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

/** Returns an upper bound of `availableAfterMs`, for backends that do not compute it. */
export function defaultAvailableAfterMs(retryAfterMs: number, resetAfterMs: number): number {
  return retryAfterMs || Math.ceil(resetAfterMs)
}

/** Whether an enforced policy denies the request. */
export function hasDenial(verdicts: readonly Pick<PolicyVerdict, 'allowed' | 'shadow'>[]): boolean {
  for (const verdict of verdicts) if (!verdict.allowed && !verdict.shadow) return true
  return false
}

/**
 * Whether `a` is reported to the client rather than `b`: enforced before shadow, denied before allowed, then the longer
 * wait, then the smaller remaining part of the limit.
 */
export function binds(a: PolicyVerdict, b: PolicyVerdict): boolean {
  if (a.shadow !== b.shadow) return b.shadow
  if (a.allowed !== b.allowed) return b.allowed
  if (a.retryAfterMs !== b.retryAfterMs) return a.retryAfterMs > b.retryAfterMs
  return a.remaining / a.policy.limit < b.remaining / b.policy.limit
}

/** Returns a copy of a decision with plain properties instead of getters, for logs and JSON. */
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

/** Returns a copy of a verdict with plain properties, and adds properties that a backend may omit. */
export function plainVerdict(verdict: BackendVerdict): PolicyVerdict {
  const { policy, shadow, allowed, remaining, retryAfterMs, resetAfterMs, fund } = verdict
  const { availableAfterMs = defaultAvailableAfterMs(retryAfterMs, resetAfterMs) } = verdict
  return withFund({ policy, shadow, allowed, remaining, retryAfterMs, resetAfterMs, availableAfterMs }, fund)
}

/** Sets the fund of a verdict, unless it is undefined: verdicts without the property keep one hidden class. */
export function withFund<V extends PolicyVerdict>(verdict: V, fund: Fund | undefined): V {
  return fund === undefined ? verdict : Object.assign(verdict, { fund })
}
