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
import { type LoginPolicy, type LoginTerms, onlyChallenges, POLICIES } from './compile-login.ts'
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

/** The counts of one form: failures by who caused them. */
export class LoginCounts {
  readonly #terms: LoginTerms
  readonly #limiter: PolicyLimiter
  /** Allows one success per account and window to lower the pressure, or an attacker could lower it with one account. */
  readonly #credits: PolicyLimiter
  readonly #costs: readonly number[]

  constructor(options: LoginOptions, terms: LoginTerms) {
    const { backend, clock, scope } = options
    const names = terms.policies.map(({ name = '' }) => name)
    const observers = new Observers(options.observers, () => names)
    const failover = compileFailover(options)
    this.#terms = terms
    this.#costs = POLICIES.map((policy) => (policy.endsWith('pressure') ? terms.weight : 1))
    const [policies] = openPolicies([[...terms.policies, terms.credit]], { backend, clock, scope })
    this.#limiter = new PolicyLimiter(policies.slice(0, -1), clock, observers, failover)
    // a success without credit is not a denial that observers should see
    const unseen = new Observers(undefined, () => names)
    this.#credits = new PolicyLimiter(policies.slice(-1), clock, unseen, failover)
  }

  /** Counts an attempt as a failure under all policies with a key, or under none if one of them denies it. */
  async take(keys: LoginKeys): Promise<CountedAttempt> {
    const inOrder = POLICIES.map((policy) => keys[policy])
    const decision = await this.#limiter.takeEach(inOrder, this.#costs)
    const refused = decision.verdicts.filter(({ allowed }) => !allowed)
    // the shadow mode of the whole process denies and challenges nothing
    const isShadow = decision.verdicts.some(({ policy, shadow }) => shadow && !onlyChallenges(policy.name))
    return {
      keys,
      decision,
      denials: refused.filter(({ shadow }) => !shadow),
      challenges: isShadow ? [] : refused.filter(({ policy }) => onlyChallenges(policy.name)),
    }
  }

  /** Whether a challenge was solved with an answer that was used before. */
  isReplay({ denials }: CountedAttempt): boolean {
    return denials.length > 0 && denials.every(({ policy }) => this.#reasonOf(policy.name) === 'proof')
  }

  /** Counts a challenge as a failure of all clients together, until it is solved by a successful attempt. */
  async addPressure({ decision }: CountedAttempt): Promise<void> {
    await this.#charge(decision, { pressure: ALL }, { pressure: this.#terms.weight })
  }

  /** Takes back the failure of an attempt that does not reach the password check. */
  async refund({ keys, decision }: CountedAttempt): Promise<void> {
    await this.#charge(decision, keys, this.#taken(decision, keys))
  }

  /** Takes back the failure of an attempt that succeeded, and counts a success. */
  async succeed({ keys, decision }: CountedAttempt, account: string | undefined): Promise<void> {
    const isFirst = account !== undefined && (await this.#credits.take(account)).allowed
    const [taken, credit] = [this.#taken(decision, keys), isFirst ? 1 : 0]
    // counted by the attempt or by its challenge
    const pressure = -(keys.pressure === undefined ? 0 : this.#terms.weight) - credit
    const slow = (taken['slow-pressure'] ?? 0) - credit
    const all = { ...keys, pressure: ALL, 'slow-pressure': ALL }
    await this.#charge(decision, all, { ...taken, pressure, 'slow-pressure': slow })
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

  /** Returns what takes back the units of an attempt. An answer stays used. */
  #taken(decision: Decision, keys: LoginKeys): Units {
    const took = POLICIES.filter((policy, index) => {
      const { name = '' } = this.#terms.policies[index]
      const hasVerdict = decision.verdicts.some((verdict) => verdict.policy.name === name)
      return policy !== 'proof' && keys[policy] !== undefined && hasVerdict && hasTaken(decision, name)
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
