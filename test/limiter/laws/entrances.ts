import { type FetchReply, rateLimit, sluiceOf } from '@sluice/fetch'
import type { ChangingPolicies, PolicyFollower, RequestPolicy } from '@sluice/http'
import { createLimiter, type Decision, type Limiter, type MaybePromise, type Observer } from '@sluice/limiter-core'
import { compileFailover, Observers, openPolicies, PolicyLimiter } from '@sluice/limiter-core/http'
import type { FakeClock } from '@sluice/testkit'
import type { DrawnPolicy, DrawnSetup } from './drawn-setup.ts'
import type { Storages } from './storages.ts'

/** What a request asks for, beside its key. */
export interface Ask {
  readonly cost: number
  /** Index of the plan. */
  readonly plan: number
  /** Chooses one of the limits and windows of functions. */
  readonly choice: number
}

/** A take, and the adjustment of its units. */
export interface AskedTake {
  readonly decision: Decision
  charge(units: number): MaybePromise<unknown>
}

/** A limiter, and the way in which requests reach it. */
export interface Entrance {
  /** The limiter of the first plan. */
  readonly limiter: Limiter
  take(key: string, ask: Ask): Promise<AskedTake>
  /** Replaces the policies of the only plan. */
  reload(policies: readonly DrawnPolicy[]): void
  close(): void
}

/** What a limiter is built from. */
interface Surroundings {
  readonly clock: FakeClock
  readonly storages: Storages
  readonly observers: readonly Observer[]
}

export function entranceOf(setup: DrawnSetup, around: Surroundings): Entrance {
  if (setup.entrance === 'requests') return new RequestEntrance(setup, around)
  return setup.steps.includes('reload') ? new ReloadingEntrance(setup, around) : new CodeEntrance(setup, around)
}

function inputsOf(policies: readonly DrawnPolicy[], { storages }: Surroundings) {
  return policies.map(({ input, storage }) => ({ ...input, backend: storages.backendOf(storage) }))
}

class CodeEntrance implements Entrance {
  readonly limiter: Limiter

  constructor({ plans: [policies], rule }: DrawnSetup, around: Surroundings) {
    const { clock, observers } = around
    this.limiter = createLimiter({ policies: inputsOf(policies, around), clock, observers, onBackendError: rule })
  }

  async take(key: string, { cost }: Ask): Promise<AskedTake> {
    const { limiter } = this
    const decision = await limiter.take(key, cost)
    return { decision, charge: (units) => this.limiter.charge(key, units, decision) }
  }

  reload(): void {
    throw new Error('expected a setup without reloads')
  }

  close(): void {
    void this.limiter.close()
  }
}

/** The limiter of policies that change, which adapters use. */
class ReloadingEntrance implements Entrance {
  limiter: PolicyLimiter
  readonly #around: Surroundings
  readonly #open: (policies: readonly DrawnPolicy[]) => PolicyLimiter

  constructor({ plans: [policies], rule }: DrawnSetup, around: Surroundings) {
    const { clock } = around
    const identity = {}
    this.#around = around
    this.#open = (some) => {
      const [open] = openPolicies([inputsOf(some, this.#around)], { clock, identity, observers: around.observers })
      return new PolicyLimiter(open, clock, new Observers(around.observers), compileFailover({ onBackendError: rule }))
    }
    this.limiter = this.#open(policies)
  }

  async take(key: string, { cost }: Ask): Promise<AskedTake> {
    const decision = await this.limiter.take(key, cost)
    return { decision, charge: (units) => this.limiter.charge(key, units, decision) }
  }

  reload(policies: readonly DrawnPolicy[]): void {
    const next = this.#open(policies)
    next.replace(this.limiter)
    this.limiter = next
  }

  close(): void {
    this.limiter.close()
  }
}

type FetchPolicy = RequestPolicy<Request, FetchReply>

/** Policies that change when a test says so. */
class Changing implements ChangingPolicies<Request, FetchReply> {
  current: readonly FetchPolicy[]
  readonly #followers = new Set<PolicyFollower>()

  constructor(current: readonly FetchPolicy[]) {
    this.current = current
  }

  follow(follower: PolicyFollower): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  change(next: readonly FetchPolicy[]): void {
    this.current = next
    for (const { commit } of [...this.#followers].map((one) => one.prepare())) commit()
  }
}

/** The signal of a client that stays. */
const SIGNAL = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} }

/** The decision of a request that no policy counts. */
const UNCOUNTED = { allowed: true, verdicts: [], retryAfterMs: 0, takenAt: 0, counted: false, source: 'none' } as const

class RequestEntrance implements Entrance {
  readonly #limit: ReturnType<typeof rateLimit>
  readonly #handle: (request: Request) => MaybePromise<Response>
  readonly #changing: Changing
  readonly #around: Surroundings

  constructor({ plans, rule }: DrawnSetup, around: Surroundings) {
    const { clock, observers } = around
    this.#around = around
    this.#changing = new Changing(this.#inputsOf(plans[0]))
    const byPlan = Object.fromEntries(plans.map((policies, index) => [`${index}`, this.#inputsOf(policies)]))
    const chosen =
      plans.length > 1
        ? { plans: byPlan, plan: (request: Request) => request.headers.get('x-plan') ?? '0' }
        : { policies: this.#changing }
    this.#limit = rateLimit({
      ...chosen,
      key: (request: Request) => request.headers.get('x-key') ?? '',
      cost: (request: Request) => Number(request.headers.get('x-cost')),
      clock,
      observers,
      onBackendError: rule,
    } as Parameters<typeof rateLimit>[0])
    this.#handle = this.#limit.wrap(() => new Response(null))
  }

  get limiter(): Limiter {
    return this.#limit.limiter
  }

  async take(key: string, { cost, plan, choice }: Ask): Promise<AskedTake> {
    const headers = new Map([
      ['x-key', key],
      ['x-cost', `${cost}`],
      ['x-plan', `${plan}`],
      ['x-choice', `${choice}`],
    ])
    // a real one costs as much as several decisions
    const request = { method: 'GET', url: 'http://x/', headers, signal: SIGNAL } as unknown as Request
    await this.#handle(request)
    const sluice = sluiceOf(request)
    return {
      decision: sluice?.decision ?? (UNCOUNTED as unknown as Decision),
      charge: (units) => sluice?.charge(units),
    }
  }

  reload(policies: readonly DrawnPolicy[]): void {
    this.#changing.change(this.#inputsOf(policies))
  }

  close(): void {
    this.#limit.close()
  }

  #inputsOf(policies: readonly DrawnPolicy[]): FetchPolicy[] {
    const inputs = inputsOf(policies, this.#around)
    const choose = (values: readonly number[] | undefined, otherwise: number) =>
      values === undefined
        ? otherwise
        : (request: Request) => values[Number(request.headers.get('x-choice')) % values.length]
    return policies.map(({ limits, windows }, index) => ({
      ...inputs[index],
      limit: choose(limits, inputs[index].limit),
      window: choose(windows, inputs[index].window),
    }))
  }
}
