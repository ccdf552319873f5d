import { drainPerMs } from '../algorithms/policy-forms.ts'
import { retentionMs } from '../algorithms/retention-ms.ts'
import { sharesCells } from '../backend/stored-name.ts'
import { allOf, andThen, isPromise } from '../contracts/maybe-promise.ts'
import type { Answer, Charge, Clock, CompiledPolicy, MaybePromise, Moment, PriorUsage } from '../contracts.ts'
import { LARGEST_HEADER_INTEGER } from '../policy/policy.ts'
import { clockOf } from '../time/clock.ts'
import { chargeOf } from './charges.ts'
import type { OpenPolicy } from './open-policy.ts'

/** The policies of a limiter that another one has replaced. Their counters stay open, for requests in progress. */
export interface ReplacedPolicies {
  readonly policies: readonly OpenPolicy[]
  /** Earlier policies whose usage may still count. */
  readonly earlier: CarriedCounts | undefined
  /** Closes the counters. */
  readonly close: () => void
}

/** A replaced policy, whose cells its successor does not read. */
interface Predecessor {
  readonly open: OpenPolicy
  /** Closes the counters of its limiter. */
  readonly close: () => void
  /** Limit by which its usage is read. */
  readonly limit: number
  /** Time from which none of its usage counts. */
  readonly endsAt: number
}

/** Most predecessors of a policy. Further changes within one window forget the usage of the earliest ones. */
const MOST_PREDECESSORS = 8
/** Most replaced limiters whose counters stay open, and whose calls in progress are waited for. */
const MOST_OPEN = 8
/** Most keys that are known to be carried; if there are more, keys are carried again, which changes nothing. */
const MOST_KEYS = 100_000

/**
 * Carries the usage of keys from the policies of a replaced limiter to those with the same names of its successor: for
 * each key before its first call. Policies that read the same cells as before need nothing.
 */
export class CarriedCounts {
  readonly #clock: Clock
  readonly #open: ReadonlyMap<string, OpenPolicy>
  readonly #predecessors: ReadonlyMap<string, readonly Predecessor[]>
  /** Limits by which usage is restored, by name of the policy. */
  readonly #widest: ReadonlyMap<string, number>
  /** Functions that close the counters of replaced limiters. The limiters themselves would refer to all before them. */
  readonly #replaced: readonly (() => void)[]
  /** Calls of the replaced limiters that wait for usage to be carried. */
  readonly #earlier: readonly ReadonlySet<Promise<void>>[]
  readonly #endsAt: number
  /** Keys that were carried, and calls in progress that carry them. */
  readonly #keys = new Map<string, true | Promise<void>>()
  /** Keys whose usage was read. */
  readonly #read = new Set<string>()
  /** Calls that wait for usage to be carried. Their successors read the usage of a key after they have been sent. */
  readonly #unsent = new Set<Promise<void>>()

  /** `open`: the policies of the successor. */
  constructor(open: readonly OpenPolicy[], replaced: ReplacedPolicies, clock: Clock | undefined) {
    this.#clock = clockOf(clock)
    this.#open = new Map(open.map((one) => [one.policy.name, one]))
    const now = this.#clock.now()
    // also of policies that are off or missing now, and may come back
    const names = [...open, ...replaced.policies].map(({ policy }) => policy.name)
    const everyName = new Set([...names, ...(replaced.earlier ? replaced.earlier.#predecessors.keys() : [])])
    const predecessors = [...everyName].map((name) => [name, this.#found(name, replaced, now)] as const)
    this.#predecessors = new Map(predecessors.filter(([, found]) => found.length > 0))
    const carrying = open.filter(({ policy }) => this.#predecessors.has(policy.name))
    this.#widest = new Map(carrying.map((one) => [one.policy.name, widestLimit(one)]))
    const read = new Set([...this.#predecessors.values()].flat().map(({ close }) => close))
    const earlier = replaced.earlier ? replaced.earlier.#replaced : []
    const ended = earlier.filter((one, index) => index < earlier.length - MOST_OPEN && !read.has(one))
    for (const close of ended) close()
    this.#replaced = [...earlier.filter((one) => !ended.includes(one)), replaced.close]
    this.#earlier = replaced.earlier ? [...replaced.earlier.#earlier, replaced.earlier.#unsent].slice(-MOST_OPEN) : []
    const ends = [...this.#predecessors.values()].flat().map(({ endsAt }) => endsAt)
    this.#endsAt = Math.max(Number.NEGATIVE_INFINITY, ...ends)
  }

  /** Whether no predecessor has usage that still counts. */
  get isOver(): boolean {
    return this.#clock.now() >= this.#endsAt
  }

  predecessorsOf(policy: string): readonly Predecessor[] {
    return this.#predecessors.get(policy) ?? []
  }

  /**
   * Returns true if the usage of a key was carried, a promise if it was read and is being carried, and undefined
   * otherwise. What replaced limiters count after it was read concerns the successor too.
   */
  carriedOf(policy: string, key: string): true | Promise<void> | undefined {
    const id = idOf(policy, key)
    return this.#read.has(id) ? (this.#keys.get(id) ?? true) : undefined
  }

  /** Sends a call when the usage of the keys of its charges has been carried. */
  after<T>(charges: readonly Charge[], moment: Moment | undefined, send: () => MaybePromise<T>): MaybePromise<T> {
    const carrying = allOf(charges.flatMap((charge) => this.#carryOne(charge, moment) ?? []))
    if (!isPromise(carrying)) return send()
    const call = carrying.then(send)
    const sent = carrying.then(() => void this.#unsent.delete(sent))
    this.#unsent.add(sent)
    return call
  }

  /** Resets keys under the replaced policies. */
  reset(charges: readonly Charge[]): MaybePromise<void> {
    const resets = charges.flatMap(({ key, counter }) => {
      const { name } = counter.compiled.policy
      const predecessors = this.predecessorsOf(name)
      if (predecessors.length > 0) this.#keys.set(idOf(name, key), true)
      return predecessors.map(({ open }) => open.backend.resetAll([chargeOf(open, key, 0)]))
    })
    return andThen(allOf(resets), () => undefined)
  }

  close(): void {
    for (const close of this.#replaced) close()
  }

  #found(name: string, { policies, earlier, close }: ReplacedPolicies, now: number): readonly Predecessor[] {
    const own = this.#open.get(name)
    const open = policies.find(({ policy }) => policy.name === name)
    const ended = open
      ? [{ open, close, limit: widestLimit(open), endsAt: now + retentionMs(open.counter.compiled) }]
      : []
    const known: Predecessor[] = []
    for (const next of [...ended, ...(earlier?.predecessorsOf(name) ?? [])]) {
      const isKnown = known.some(({ open }) => readsSameCells(open, next.open))
      if (next.endsAt > now && !isKnown && !(own && readsSameCells(own, next.open))) known.push(next)
    }
    return known.slice(0, MOST_PREDECESSORS)
  }

  #carryOne(charge: Charge, moment: Moment | undefined): MaybePromise<void> | undefined {
    const { name } = charge.counter.compiled.policy
    const predecessors = this.predecessorsOf(name)
    if (predecessors.length === 0) return undefined
    const id = idOf(name, charge.key)
    const before = this.#keys.get(id)
    if (before !== undefined) return before === true ? undefined : before
    if (this.#keys.size >= MOST_KEYS) {
      this.#keys.clear()
      this.#read.clear()
    }
    const finish = (isCarried: boolean): void => {
      if (isCarried) this.#keys.set(id, true)
      else {
        this.#keys.delete(id)
        this.#read.delete(id)
      }
    }
    const earlier = allOf(this.#earlier.flatMap((unsent) => [...unsent]))
    const now = this.#clock.now()
    const found = andThen(earlier, () => {
      this.#read.add(id)
      return allOf(predecessors.flatMap((one) => (one.endsAt > now ? usageOf(one, charge.key, moment) : [])))
    })
    const carried = andThen(
      andThen(found, (usages) => this.#restore(charge, usages, moment)),
      finish,
    )
    if (isPromise(carried)) this.#keys.set(id, carried)
    return carried
  }

  /** Adds the usage to the successor's count. Returns whether all of it is certain to be counted. */
  #restore(charge: Charge, usages: readonly CarriedUsage[], moment: Moment | undefined): MaybePromise<boolean> {
    const areKnown = usages.every(({ isCounted }) => isCounted)
    const used = Math.max(0, ...usages.map((usage) => usage.used))
    const resetAfterMs = Math.max(0, ...usages.map((usage) => usage.resetAfterMs))
    const { name } = charge.counter.compiled.policy
    const open = this.#open.get(name)
    if (!open || used === 0 || resetAfterMs === 0) return areKnown
    // a smaller limit would hide usage that the cells already have
    const counter = open.counters.of(this.#widest.get(name) ?? open.policy.limit) ?? charge.counter
    const known = usageUnder(counter.compiled, used, resetAfterMs)
    const answer = open.backend.takeAll([{ key: charge.key, counter, cost: 0, known }], moment)
    return andThen(answer, ({ counted }) => counted && areKnown)
  }
}

/** Returns the usage of a key as a policy counts it: a bucket has at most its capacity, and drains at its own rate. */
function usageUnder({ policy, capacity }: CompiledPolicy, used: number, resetAfterMs: number): PriorUsage {
  const perMs = drainPerMs(policy)
  if (perMs === 0) return { used, resetAfterMs }
  const units = Math.min(used, capacity)
  return { used: units, resetAfterMs: units / perMs }
}

/** Usage of a key under a predecessor. */
interface CarriedUsage {
  readonly used: number
  readonly resetAfterMs: number
  /** Whether the backend has answered, and not a failure rule. */
  readonly isCounted: boolean
}

function usageOf(predecessor: Predecessor, key: string, moment: Moment | undefined): MaybePromise<CarriedUsage> {
  const { open, limit } = predecessor
  // a process returns the units that it has leased if it reads a key by another limit
  return andThen(usageBy(open, open.policy.limit, key, moment), ({ isExhausted, ...usage }) =>
    isExhausted && limit > open.policy.limit ? usageBy(open, limit, key, moment) : usage,
  )
}

/** Reads the usage of a key by a limit. Usage beyond the limit is not included. */
function usageBy(
  open: OpenPolicy,
  limit: number,
  key: string,
  moment: Moment | undefined,
): MaybePromise<CarriedUsage & { readonly isExhausted: boolean }> {
  const charge = { key, counter: open.counters.of(limit) ?? open.counter, cost: 0 }
  return andThen(open.backend.peekAll([charge], moment), ({ verdicts: [verdict], counted }: Answer) => {
    const { remaining, resetAfterMs } = verdict
    const used = charge.counter.compiled.capacity - remaining
    return { used, resetAfterMs, isCounted: counted, isExhausted: remaining === 0 }
  })
}

/** Returns the largest limit by which the cells of a policy can be read: a smaller one hides usage beyond it. */
function widestLimit({ policy, counter, counters }: OpenPolicy): number {
  // a bucket drains at a rate that depends on the limit
  if (drainPerMs(policy) > 0 || counter.compiled.variants) return policy.limit
  // the product of a limit and its window must be exact
  const exact = Math.floor(Number.MAX_SAFE_INTEGER / policy.windowMs)
  const largest = Math.max(policy.limit, Math.min(LARGEST_HEADER_INTEGER, exact))
  const limit = policy.algorithm === 'sliding-log' ? (counter.compiled.room ?? policy.limit) : largest
  try {
    counters.prepare(limit)
    return limit
  } catch {
    // the backend counts no limit that large
    return policy.limit
  }
}

/** Whether two policies count in the same cells. */
export function readsSameCells(one: OpenPolicy, other: OpenPolicy): boolean {
  return one.home === other.home && sharesCells(one.counter, other.counter)
}

function idOf(policy: string, key: string): string {
  return `${policy}\0${key}`
}
