import type {
  CountedKey,
  Decision,
  LimiterControls,
  MaybePromise,
  ObservedLimiter,
  ObservedPolicy,
} from '../contracts.ts'
import type { LimiterBans } from './limiter-bans.ts'
import type { OpenPolicy } from './open-policy.ts'

/** The methods of a limiter that observers use. */
interface ControllableLimiter {
  peekOne(index: number, key: string, cost: number): MaybePromise<Decision>
  resetOne(index: number, key: string): MaybePromise<void>
  readonly bans: Pick<LimiterBans, 'liftOne'>
  control(controls: LimiterControls | undefined, owner: object): void
}

/** Returns the view of a limiter that its observers receive. `open`: the policies that are not off. */
export function limiterHandle(open: readonly OpenPolicy[], limiter: ControllableLimiter): ObservedLimiter {
  const handle: ObservedLimiter = {
    policies: open.map(observedPolicy),
    peek: (index, key, cost) => limiter.peekOne(index, key, cost),
    reset: (index, key) => limiter.resetOne(index, key),
    lift: (index, key) => limiter.bans.liftOne(index, key),
    control: (controls, owner = handle) => limiter.control(controls, owner),
  }
  return handle
}

function observedPolicy({ policy, mode, counter, home, overrides, ban }: OpenPolicy): ObservedPolicy {
  const counted = (key: string): CountedKey => ({ key, counter: overrides?.counterOf(key) ?? counter })
  return {
    policy,
    mode: mode === 'shadow' ? 'shadow' : 'enforce',
    countName: counter.name,
    backend: home.name,
    identity: home.identity ?? home,
    perProcess: home.perProcess === true,
    ban: ban?.terms,
    overrideOf: (key) => overrides?.limitOf(key),
    isExempt: (key) => overrides?.isExempt(key) === true,
    heldUnitsOf: (key) => home.heldOf?.(counted(key)) ?? [],
    estimateOf: (key) => home.estimateOf?.(counted(key)),
  }
}
