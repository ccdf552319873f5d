import type {
  CountEstimate,
  CountedKey,
  Decision,
  HeldUnits,
  LimiterControls,
  MaybePromise,
  ObservedLimiter,
  ObservedPolicy,
} from '../contracts.ts'
import type { OpenPolicy } from './open-policy.ts'

/** The methods of a limiter that observers use. */
interface ControllableLimiter {
  peekOne(index: number, key: string, cost: number): MaybePromise<Decision>
  resetOne(index: number, key: string): MaybePromise<void>
  liftOne(index: number, key: string): MaybePromise<void>
  control(controls: LimiterControls | undefined, owner: object): void
}

/** The view of a limiter that its observers receive. */
export class LimiterHandle implements ObservedLimiter {
  readonly policies: readonly ObservedPolicy[]
  readonly #limiter: ControllableLimiter

  /** `open`: the policies that are not off, without failover. */
  constructor(open: readonly OpenPolicy[], limiter: ControllableLimiter) {
    this.policies = open.map((one) => new OpenPolicyView(one))
    this.#limiter = limiter
  }

  peek(index: number, key: string, cost: number): MaybePromise<Decision> {
    return this.#limiter.peekOne(index, key, cost)
  }

  reset(index: number, key: string): MaybePromise<void> {
    return this.#limiter.resetOne(index, key)
  }

  lift(index: number, key: string): MaybePromise<void> {
    return this.#limiter.liftOne(index, key)
  }

  control(controls: LimiterControls | undefined, owner: object = this): void {
    this.#limiter.control(controls, owner)
  }
}

class OpenPolicyView implements ObservedPolicy {
  readonly policy: ObservedPolicy['policy']
  readonly mode: ObservedPolicy['mode']
  readonly countName: string
  readonly backend: string
  readonly identity: object
  readonly perProcess: boolean
  readonly ban: ObservedPolicy['ban']
  readonly #open: OpenPolicy

  constructor(open: OpenPolicy) {
    const { policy, counter, backend, mode } = open
    this.policy = policy
    this.mode = mode === 'shadow' ? 'shadow' : 'enforce'
    this.countName = counter.name
    this.backend = backend.name
    this.identity = backend.identity ?? backend
    this.perProcess = backend.perProcess === true
    this.ban = open.ban?.terms
    this.#open = open
  }

  overrideOf(key: string): number | undefined {
    return this.#open.overrides?.limitOf(key)
  }

  isExempt(key: string): boolean {
    return this.#open.overrides?.isExempt(key) === true
  }

  heldUnitsOf(key: string): readonly HeldUnits[] {
    return this.#open.backend.heldOf?.(this.#counted(key)) ?? []
  }

  estimateOf(key: string): CountEstimate | undefined {
    return this.#open.backend.estimateOf?.(this.#counted(key))
  }

  #counted(key: string): CountedKey {
    const { counter, overrides } = this.#open
    return { key, counter: overrides?.counterOf(key) ?? counter }
  }
}
