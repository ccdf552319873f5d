import type {
  Answer,
  Charge,
  CompiledPolicy,
  CountedKey,
  Counter,
  Decision,
  MaybePromise,
  Moment,
} from '../contracts.ts'
import type { MemoryCounter } from '../memory/memory-counter.ts'
import type { FailoverRule } from './failover-options.ts'
import type { MirrorPolicy } from './mirror-policy.ts'
import type { Basis } from './own-units.ts'

/** The method of a failover backend that implements `take` of its counters. */
interface TakeOne {
  takeOne(counter: FailoverCounter, key: string, cost: number, moment?: Moment): MaybePromise<Decision>
}

/** The local counter that replaces a backend's counter during an outage. */
export type MirrorCounter = MemoryCounter<MirrorPolicy>
export type MirrorCharge = Charge<MirrorCounter>

export type FailoverKey = CountedKey<FailoverCounter>
export type FailoverCharge = Charge<FailoverCounter>

/** Decides instead of a backend. Never throws, and marks every answer as not counted. */
export interface FailureRule {
  readonly source: FailoverRule['source']
  /** `basis`: whether the backend counts the units that are admitted here. */
  take(charges: readonly FailoverCharge[], now: number, basis: Basis): Answer
  peek(charges: readonly FailoverCharge[], now: number): Answer
  adjust(charges: readonly FailoverCharge[], takenAt: number, now: number, basis: Basis): Answer
}

/** A counter of a remote backend with its failure rule and its local mirror. */
export class FailoverCounter implements Counter<MaybePromise<Answer>> {
  readonly compiled: CompiledPolicy
  readonly name: string
  readonly remote: Counter
  readonly mirror: MirrorCounter
  readonly rule: FailureRule
  readonly #backend: TakeOne

  constructor(backend: TakeOne, remote: Counter, mirror: MirrorCounter, rule: FailureRule) {
    this.compiled = remote.compiled
    this.name = remote.name
    this.remote = remote
    this.mirror = mirror
    this.rule = rule
    this.#backend = backend
  }

  take(key: string, cost: number, moment?: Moment): MaybePromise<Decision> {
    return this.#backend.takeOne(this, key, cost, moment)
  }

  close(): void {
    this.remote.close?.()
  }
}

export function remoteKey({ key, counter }: FailoverKey): CountedKey {
  return { key, counter: counter.remote }
}

export function remoteCharge({ key, counter, cost, advisory, known, hold }: FailoverCharge): Charge {
  const charge = { key, counter: counter.remote, cost, advisory: advisory === true, known }
  return hold === undefined ? charge : { ...charge, hold }
}
