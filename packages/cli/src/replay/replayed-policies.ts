import type { Answer, Backend, Clock, Decision, Observer, Policy, PolicyInput } from '@sluice/limiter-core'
import { memoryBackend } from '@sluice/limiter-core'
import { Observers } from '@sluice/limiter-core/backend'
import { type OpenPolicy, openPolicies, PolicyLimiter } from '@sluice/limiter-core/http'
import {
  type AttributeSource,
  type FilePolicy,
  type ListAnswer,
  type MatchedPolicy,
  type PolicyLists,
  PolicyMatcher,
} from '@sluice/policies'
import type { LogRequest } from './log-request.ts'
import type { PolicyFile } from './policy-file.ts'

/** Largest memory for the counts of all keys. Pages are taken when they are needed. */
const COUNTS_BYTES = 2 ** 30

/** `source` of a decision about a banned key. */
const BANNED = 'banned'
/** Smallest status of a response that failed. */
const FAILED_FROM = 400

const NONE: readonly never[] = []

/** A decision about one request of the log. Valid until the next request is decided. */
export interface ReplayedRequest {
  /** Whether an enforced policy, or the block list, denied the request. */
  isDenied: boolean
  /** What the lists of the file decide; then no policy applies. */
  listed: ListAnswer
  /** For each policy of the file: its key, if the policy applies to the request. */
  matched: readonly (MatchedPolicy | undefined)[]
  /** For each policy of the file: whether it denied the request, or would have denied it in shadow mode. */
  readonly denials: boolean[]
  /** Whether the key of a policy was banned, so that only the policies that ban it were asked. */
  isBanned: boolean
  /** For each policy of the file: units of the request, after they were settled. */
  readonly costs: number[]
}

/** The policies of a file, on a limiter that counts the requests of a log. */
export class ReplayedPolicies {
  readonly matcher: PolicyMatcher
  /** The compiled policy of each policy of the file; undefined for those that are off. */
  readonly compiled: readonly (Policy | undefined)[]
  /** Number of requests for which the condition of a policy could not be evaluated, by policy. */
  readonly failedConditions: Map<string, number> = new Map<string, number>()
  /** The lists of the file; undefined if it has none. */
  readonly lists: PolicyLists | undefined
  /** Number of keys whose counts were forgotten, because memory was full. */
  evicted = 0
  /** Number of bans that began, by policy; undefined if no policy bans keys. */
  readonly bans: Map<string, number> | undefined
  readonly #clock: Clock
  readonly #limiter: PolicyLimiter | undefined
  /** Indexes in the file of the policies that are not off. */
  readonly #active: readonly number[]
  readonly #hasPlans: boolean
  // of the current request, by the place among the active policies
  readonly #keys: (string | undefined)[]
  readonly #reserved: number[]
  readonly #request: ReplayedRequest

  /** Throws a `SluiceError` if a policy cannot be counted, for example by a `sliding-log` of a large limit. */
  constructor({ document, lists }: PolicyFile, clock: Clock) {
    this.#clock = clock
    this.lists = lists.isEmpty ? undefined : lists
    this.matcher = new PolicyMatcher(document, (policy, _error, applied) => {
      if (!applied) this.failedConditions.set(policy, (this.failedConditions.get(policy) ?? 0) + 1)
    })
    const { policies } = this.matcher
    this.#active = policies.flatMap(({ written }, index) => (written.mode === 'off' ? [] : [index]))
    this.#hasPlans = this.#active.some((index) => typeof policies[index].written.limit !== 'number')
    const backend = memoryBackend({ maxBytes: COUNTS_BYTES, clock })
    backend.observe?.({ event: (name) => this.#observe(name) })
    const open = this.#open(backend)
    this.compiled = policies.map((_, index) => open[this.#active.indexOf(index)]?.policy)
    this.bans = open.some(({ ban }) => ban) ? new Map() : undefined
    this.#limiter = open.length > 0 ? new PolicyLimiter(open, clock, this.#observers()) : undefined
    this.#keys = this.#active.map(() => undefined)
    this.#reserved = this.#active.map(() => 0)
    const none = policies.map(() => false)
    const costs = policies.map(() => 0)
    this.#request = { isDenied: false, isBanned: false, listed: undefined, matched: [], denials: none, costs }
  }

  /** Decides a request at the time of the clock: takes its units from all policies that apply, or from none. */
  decide(from: Pick<LogRequest, 'read' | 'fullAddress' | 'status'>): Readonly<ReplayedRequest> {
    const { read } = from
    const request = this.#request
    request.isBanned = false
    request.listed = this.lists?.answer(from.fullAddress, read)
    request.isDenied = request.listed === 'block'
    request.denials.fill(false)
    const matched = request.listed === undefined ? this.matcher.match(read) : NONE
    request.matched = matched
    if (matched.length > 0 && this.#prepare(matched, read)) this.#take(matched, from)
    return request
  }

  /** Sets the keys and the costs of the request. Returns whether a policy applies to it. */
  #prepare(matched: ReplayedRequest['matched'], read: AttributeSource): boolean {
    const { policies } = this.matcher
    const keys = this.#keys
    const reserved = this.#reserved
    let applies = false
    for (let at = 0; at < this.#active.length; at++) {
      const index = this.#active[at]
      const key = matched[index]?.key
      const { cost = 1 } = policies[index].written
      if (key !== undefined) applies = true
      keys[at] = key
      reserved[at] = typeof cost === 'number' ? cost : cost.reserve
      this.#request.costs[index] = typeof cost === 'number' ? cost : settledCost(read(cost.settle), cost.reserve)
    }
    return applies
  }

  #take(matched: ReplayedRequest['matched'], from: Pick<LogRequest, 'status'>): void {
    const limits = this.#hasPlans ? this.#active.map((index) => matched[index]?.limit) : undefined
    const moment = { now: this.#clock.now() }
    const decision = this.#limiter?.takeEach(this.#keys, this.#reserved, moment, limits && { limits }) as Decision
    this.#record(decision)
    if (!decision.allowed) return
    this.#settle(decision)
    if (this.bans) this.#report(from.status)
  }

  /**
   * Writes which policies denied. There is one verdict for each policy that applies, or if a key is banned, for each
   * policy that bans it.
   */
  #record({ allowed, source, verdicts }: Decision): void {
    const request = this.#request
    request.isDenied = !allowed
    request.isBanned = source === BANNED
    let at = 0
    for (const index of this.#active) {
      if (request.matched[index] === undefined) continue
      if (request.isBanned && verdicts[at]?.policy.name !== this.matcher.policies[index].name) continue
      request.denials[index] = !verdicts[at++].allowed
    }
  }

  /** Reports how a request ended to the policies whose bans depend on it. */
  #report(status: number | undefined): void {
    if (status === undefined) return
    const outcome = status >= FAILED_FROM ? 'failure' : 'success'
    for (let at = 0; at < this.#active.length; at++) {
      const key = this.#keys[at]
      const strikes = this.matcher.policies[this.#active[at]].written.ban?.strikes
      const isOther = outcome === 'failure' && Array.isArray(strikes) && !strikes.includes(status)
      if (key !== undefined && !isOther) this.#limiter?.bans.reportOne(at, key, outcome)
    }
  }

  /** Charges or refunds the difference between the final costs and the reserved ones. */
  #settle(decision: Decision): void {
    for (let at = 0; at < this.#active.length; at++) {
      const key = this.#keys[at]
      const units = this.#request.costs[this.#active[at]] - this.#reserved[at]
      if (key !== undefined && units !== 0) this.#limiter?.chargeOne(at, key, units, decision)
    }
  }

  #open(backend: Backend<Answer>): readonly OpenPolicy[] {
    if (this.#active.length === 0) return []
    const files = this.#active.map((index) => this.matcher.policies[index])
    const [open] = openPolicies([files.map(policyInput)], { backend, clock: this.#clock })
    open.forEach(({ counters }, at) => {
      const { limit } = files[at].written
      if (typeof limit !== 'number') for (const ofPlan of Object.values(limit)) counters.prepare(ofPlan)
    })
    return open
  }

  #observe(event: string): void {
    if (event === 'evicted') this.evicted++
  }

  #observers(): Observers {
    const { bans } = this
    const count: NonNullable<Observer['event']> = (event, { policy }) => {
      if (event === 'ban') bans?.set(String(policy), (bans.get(String(policy)) ?? 0) + 1)
    }
    return new Observers(bans ? [{ event: count }] : [], () => [])
  }
}

function policyInput({ written, largestLimit, overrides }: FilePolicy): PolicyInput {
  const { name, per, algorithm, burst, slices, retry, unit, mode, ban } = written
  return {
    name,
    limit: largestLimit,
    window: per as NonNullable<PolicyInput['window']>,
    ...(algorithm && { algorithm }),
    ...(burst && { burst }),
    ...(slices && { slices }),
    ...(retry && { retry }),
    ...(unit && { unit }),
    ...(mode && { mode }),
    ...(ban && { ban: ban as NonNullable<PolicyInput['ban']> }),
    ...(overrides && { overrides }),
  }
}

/** Returns the units of a request; the reserved ones if the log does not have a cost. Fractions are rounded up. */
function settledCost(value: unknown, reserved: number): number {
  const units = Math.ceil(Number(value))
  return value !== undefined && units >= 0 && units <= Number.MAX_SAFE_INTEGER ? units : reserved
}
