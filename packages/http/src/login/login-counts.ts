import {
  allOf,
  compileFailover,
  type Decision,
  hasTaken,
  Observers,
  openPolicies,
  PolicyLimiter,
  type PolicyVerdict,
} from '@sluice/limiter-core/http'
import { deniesNothing, isPressure, type LoginPolicy, type LoginTerms, POLICIES } from './compile-login.ts'
import type { LoginReason } from './login-attempt.ts'
import type { LoginOptions } from './login-options.ts'

/** The keys that count an attempt. Policies without a key do not count it. */
export type LoginKeys = Readonly<Partial<Record<LoginPolicy, string | undefined>>>

/** Key of the policies that count all clients together. */
export const ALL = 'all'

/** Units of the policies of an attempt. */
type Units = Readonly<Partial<Record<LoginPolicy, number>>>

/** An attempt that was counted as a failure, unless it is denied. */
export interface CountedAttempt {
  readonly keys: LoginKeys
  readonly decision: Decision
  /** Verdicts of the policies that deny the attempt. */
  readonly denials: readonly PolicyVerdict[]
  /** Verdicts of the policies that demand a challenge. */
  readonly challenges: readonly PolicyVerdict[]
}

/** The longest wait of several verdicts. */
export interface LongestWait {
  readonly reason: LoginReason
  readonly retryAfterMs: number
  /** The wait as a part of the window: the further a count is above its limit, the longer, up to twice the window. */
  readonly windows: number
}

/** Units of an attempt. Default: 1. */
const COSTS: Readonly<Partial<Record<LoginPolicy, (terms: LoginTerms) => number>>> = {
  pressure: ({ weight }) => weight,
  'slow-pressure': ({ weight }) => weight,
  solved: ({ weight }) => weight,
  familiar: () => 0,
}

/** The counts of one form: failures by who caused them. */
export class LoginCounts {
  readonly #terms: LoginTerms
  readonly #limiter: PolicyLimiter
  /** Allows one success per account and window to lower the pressure, or an attacker could lower it with one account. */
  readonly #credits: PolicyLimiter
  readonly #costs: readonly number[]
  readonly #isEnforced: boolean

  constructor(options: LoginOptions, terms: LoginTerms) {
    const { backend, clock, scope } = options
    const names = terms.policies.map(({ name = '' }) => name)
    const observers = new Observers(options.observers, () => names)
    const failover = compileFailover(options)
    this.#terms = terms
    this.#costs = POLICIES.map((policy) => COSTS[policy]?.(terms) ?? 1)
    const [policies] = openPolicies([[...terms.policies, terms.credit]], { backend, clock, scope })
    this.#isEnforced = policies.some(({ mode }) => mode === 'enforce')
    this.#limiter = new PolicyLimiter(policies.slice(0, -1), clock, observers, failover)
    // a success without credit is not a denial that observers should see
    const unseen = new Observers(undefined, () => names)
    this.#credits = new PolicyLimiter(policies.slice(-1), clock, unseen, failover)
  }

  /**
   * Counts an attempt as a failure under all policies with a key, or under none if one of them denies it. If the account
   * has logged in from the address before, failures of all clients together do not challenge the attempt.
   */
  async take(keys: LoginKeys): Promise<CountedAttempt> {
    const attempt = await this.#take(keys)
    const { denials, challenges } = attempt
    const isPressed = denials.length === 0 && challenges.some(({ policy }) => isPressure(policy.name))
    if (!isPressed || !this.#isFamiliar(attempt)) return attempt
    await this.refund(attempt)
    return this.#take({ ...keys, pressure: undefined, 'slow-pressure': undefined })
  }

  async #take(keys: LoginKeys): Promise<CountedAttempt> {
    const inOrder = POLICIES.map((policy) => keys[policy])
    const decision = await this.#limiter.takeEach(inOrder, this.#costs)
    const refused = decision.verdicts.filter(({ allowed }) => !allowed)
    // the shadow mode of the whole process denies and challenges nothing
    const isShadow = decision.verdicts.some(({ policy, shadow }) => shadow && !deniesNothing(policy.name))
    return {
      keys,
      decision,
      denials: refused.filter(({ shadow }) => !shadow),
      challenges: isShadow ? [] : refused.filter(({ policy }) => deniesNothing(policy.name)),
    }
  }

  /** Whether the attempt is denied only because too many attempts fail after they have solved a task. */
  isSolvedTooOften({ denials }: CountedAttempt): boolean {
    return denials.length > 0 && denials.every(({ policy }) => this.#reasonOf(policy.name) === 'solved')
  }

  /** Returns the verdicts that would challenge an attempt with these keys. Counts nothing. */
  async challengesOf(keys: LoginKeys): Promise<readonly PolicyVerdict[]> {
    if (!this.#isEnforced) return []
    const peeked = POLICIES.flatMap((policy, index) => {
      const key = keys[policy]
      const isPeeked = key !== undefined && deniesNothing(policy)
      return isPeeked ? [this.#limiter.peekOne(index, key, this.#costs[index])] : []
    })
    const decisions = await allOf(peeked)
    return decisions.flatMap(({ verdicts }) => verdicts.filter(({ allowed }) => !allowed))
  }

  /** Counts a challenge as a failure of all clients together, until it is solved by a successful attempt. */
  async addPressure({ decision }: CountedAttempt): Promise<void> {
    await this.#charge(decision, { pressure: ALL }, { pressure: this.#terms.weight })
  }

  /** Takes back the failure of an attempt that does not reach the password check. */
  async refund({ keys, decision }: CountedAttempt): Promise<void> {
    await this.#charge(decision, keys, this.#taken(decision, keys))
  }

  /**
   * Takes back the failure of an attempt that succeeded, and counts a success. `hasAdded`: whether `addPressure` was
   * called for its client.
   */
  async succeed(attempt: CountedAttempt, account: string | undefined, hasAdded: boolean): Promise<void> {
    const { keys, decision } = attempt
    // known devices count in no pressure, so that their successes must not excuse the failures of others
    const isFirst = account !== undefined && keys.pressure !== undefined && (await this.#isFirstSuccess(account))
    const taken = this.#taken(decision, keys)
    const credit = isFirst ? 1 : 0
    const pressure = (taken.pressure ?? 0) - (hasAdded ? this.#terms.weight : 0) - credit
    const slow = (taken['slow-pressure'] ?? 0) - credit
    const solved = taken.solved === undefined ? 0 : taken.solved - credit
    const familiar = this.#isFamiliar(attempt) ? 0 : 1
    const all = { ...keys, pressure: ALL, 'slow-pressure': ALL }
    await this.#charge(decision, all, { ...taken, pressure, 'slow-pressure': slow, solved, familiar })
  }

  longestOf(verdicts: readonly PolicyVerdict[]): LongestWait {
    const longest = verdicts.reduce((one, other) => (other.retryAfterMs > one.retryAfterMs ? other : one))
    const { policy, retryAfterMs } = longest
    return { reason: this.#reasonOf(policy.name), retryAfterMs, windows: retryAfterMs / policy.windowMs }
  }

  close(): void {
    this.#credits.close()
    this.#limiter.close()
  }

  /** Whether an account has not succeeded in the window before. Counts the success. */
  async #isFirstSuccess(account: string): Promise<boolean> {
    const { allowed, verdicts } = await this.#credits.take(account)
    return allowed && verdicts.every(({ policy, remaining }) => remaining === policy.limit - 1)
  }

  #isFamiliar({ decision }: CountedAttempt): boolean {
    const name = `${this.#terms.name}-familiar`
    return decision.verdicts.some(({ policy, remaining }) => policy.name === name && remaining < policy.limit)
  }

  /** Returns what takes back the units of an attempt. */
  #taken(decision: Decision, keys: LoginKeys): Units {
    const took = POLICIES.filter((policy, index) => {
      const { name = '' } = this.#terms.policies[index]
      const hasVerdict = decision.verdicts.some((verdict) => verdict.policy.name === name)
      return keys[policy] !== undefined && hasVerdict && hasTaken(decision, name)
    })
    return Object.fromEntries(took.map((policy) => [policy, -this.#costs[POLICIES.indexOf(policy)]]))
  }

  async #charge(decision: Decision, keys: LoginKeys, units: Units): Promise<void> {
    if (decision.source === 'off') return
    const charges = POLICIES.flatMap((policy, index) => {
      const [key, amount = 0] = [keys[policy], units[policy]]
      return key === undefined || amount === 0 ? [] : [this.#limiter.chargeOne(index, key, amount, decision)]
    })
    await allOf(charges)
  }

  #reasonOf(policy: string): LoginReason {
    return policy.slice(this.#terms.name.length + 1).replace(/-challenge$/, '') as LoginReason
  }
}
