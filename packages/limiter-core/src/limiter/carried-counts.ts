import { drainPerMs, retentionMs } from '../algorithms/policy-forms.ts'
import { sharesCells } from '../backend/stored-name.ts'
import { allOf, andThen, isPromise } from '../contracts/maybe-promise.ts'
import type { Answer, Charge, Clock, CompiledPolicy, Counter, MaybePromise, Moment, PriorUsage } from '../contracts.ts'
import { LARGEST_HEADER_INTEGER } from '../policy/policy.ts'
import { clockOf } from '../time/clock.ts'
import { chargeOf, resetsOf } from './charges.ts'
import { preparedCounter } from './limit-counters.ts'
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
      return predecessors.map(({ open }) => open.backend.resetAll(resetsOf([open], chargeOf(open, key, 0))))
    })
    return andThen(allOf(resets), () => undefined)
  }

  close(): void {
    for (const close of this.#replaced) close()
  }

  #found(name: string, { policies, earlier, close }: ReplacedPolicies, now: number): readonly Predecessor[] {
    const own = this.#open.get(name)
    const open = policies.find(({ policy }) => policy.name === name)
    const ended = open ? [{ open, close, endsAt: now + longestMs(open) }] : []
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
    const own = this.#open.get(name)
    // an operator may have set the limit of the charge, but usage is restored by the limit of the key
    const counter = own ? chargeOf(own, charge.key, 0).counter : charge.counter
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
      const running = predecessors.filter(({ endsAt }) => endsAt > now)
      return allOf(running.flatMap(({ open }) => usageOf(open, charge.key, counter, moment) ?? []))
    })
    const carried = andThen(
      andThen(found, (usages) => this.#restore(charge.key, counter, usages, moment)),
      finish,
    )
    if (isPromise(carried)) this.#keys.set(id, carried)
    return carried
  }

  /** Adds the usage to the successor's count. Returns whether all of it is certain to be counted. */
  #restore(
    key: string,
    counter: Counter,
    usages: readonly CarriedUsage[],
    moment: Moment | undefined,
  ): MaybePromise<boolean> {
    const areKnown = usages.every(({ isCounted }) => isCounted)
    const used = Math.max(0, ...usages.map((usage) => usage.used))
    const resetAfterMs = Math.max(0, ...usages.map((usage) => usage.resetAfterMs))
    const open = this.#open.get(counter.compiled.policy.name)
    if (!open || used === 0 || resetAfterMs === 0) return areKnown
    // a smaller limit would hide usage that the cells already have
    const widest = widestCounter(open, counter)
    const known = usageUnder(widest.compiled, used, resetAfterMs)
    const answer = open.backend.takeAll([{ key, counter: widest, cost: 0, known }], moment)
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

/** Returns undefined if the successor's counter of the key reads the same cells. */
function usageOf(
  open: OpenPolicy,
  key: string,
  next: Counter,
  moment: Moment | undefined,
): MaybePromise<CarriedUsage> | undefined {
  const counter = counterUnder(open, key, next)
  if (sharesCells(counter, next)) return undefined
  const widest = widestCounter(open, counter)
  // a process returns the units that it has leased if it reads a key by another limit
  return andThen(usageBy(open, counter, key, moment), ({ isExhausted, ...usage }) =>
    isExhausted && widest !== counter ? usageBy(open, widest, key, moment) : usage,
  )
}

/** Returns the counter of a key under a predecessor; if its limit there is not known, by the limit that it has now. */
function counterUnder(open: OpenPolicy, key: string, { compiled }: Counter): Counter {
  if (!open.terms || open.terms.knows(key)) return chargeOf(open, key, 0).counter
  const { limit, windowMs } = compiled.policy
  preparedCounter(open.counters, limit, windowMs)
  return chargeOf(open, key, 0, limit, windowMs).counter
}

/** Reads the usage of a key by a counter. Usage beyond its limit is not included. */
function usageBy(
  open: OpenPolicy,
  counter: Counter,
  key: string,
  moment: Moment | undefined,
): MaybePromise<CarriedUsage & { readonly isExhausted: boolean }> {
  return andThen(
    open.backend.peekAll([{ key, counter, cost: 0 }], moment),
    ({ verdicts: [verdict], counted }: Answer) => {
      const { remaining, resetAfterMs, spent: used = counter.compiled.capacity - remaining } = verdict
      return { used, resetAfterMs, isCounted: counted, isExhausted: remaining === 0 }
    },
  )
}

/** Returns the counter with the largest limit by which the cells of a key can be read: a smaller one hides usage. */
function widestCounter({ counters }: OpenPolicy, counter: Counter): Counter {
  const { policy, variants, room = policy.limit } = counter.compiled
  // a bucket drains at a rate that depends on the limit
  if (drainPerMs(policy) > 0 || variants) return counter
  // the product of a limit and its window must be exact
  const exact = Math.floor(Number.MAX_SAFE_INTEGER / policy.windowMs)
  const largest = Math.max(policy.limit, Math.min(LARGEST_HEADER_INTEGER, exact))
  return preparedCounter(counters, policy.algorithm === 'sliding-log' ? room : largest, policy.windowMs) ?? counter
}

/** Returns the milliseconds after which no usage of a policy counts, in any of its windows. */
function longestMs({ counters }: OpenPolicy): number {
  return Math.max(...counters.windows.map(({ compiled }) => retentionMs(compiled)))
}

/** Whether two policies count in the same cells. */
export function readsSameCells(one: OpenPolicy, other: OpenPolicy): boolean {
  return one.home === other.home && sharesCells(one.counter, other.counter)
}

function idOf(policy: string, key: string): string {
  return `${policy}\0${key}`
}
