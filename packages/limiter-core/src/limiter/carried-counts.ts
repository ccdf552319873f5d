import { drainPerMs } from '../algorithms/policy-forms.ts'
import { retentionMs } from '../algorithms/retention-ms.ts'
import { sharesCells } from '../backend/shares-cells.ts'
import { allOf, andThen, isPromise } from '../contracts/maybe-promise.ts'
import type { Answer, Charge, Clock, CompiledPolicy, MaybePromise, Moment, PriorUsage } from '../contracts.ts'
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
  readonly #replaced: readonly ReplacedPolicies[]
  /** Carried counts of the replaced limiters. */
  readonly #earlier: readonly CarriedCounts[]
  readonly #endsAt: number
  /** Keys that were carried, and calls in progress that carry them. */
  readonly #keys = new Map<string, true | Promise<void>>()
  /** Calls that wait for usage to be carried. Their successors read the usage of a key after they have been sent. */
  readonly #unsent = new Set<Promise<void>>()

  /** `open`: the policies of the successor. */
  constructor(open: readonly OpenPolicy[], replaced: ReplacedPolicies, clock: Clock | undefined) {
    this.#clock = clockOf(clock)
    this.#open = new Map(open.map((one) => [one.policy.name, one]))
    const now = this.#clock.now()
    const earlier = replaced.earlier ? replaced.earlier.#replaced : []
    const all = [...earlier, replaced]
    for (const { close } of all.splice(0, all.length - MOST_OPEN)) close()
    this.#replaced = all
    this.#earlier = replaced.earlier ? [...replaced.earlier.#earlier, replaced.earlier].slice(-MOST_OPEN) : []
    this.#predecessors = new Map(
      open.map((one) => [one.policy.name, predecessorsOf(one, replaced, now, replaced.earlier)]),
    )
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

  /** Whether usage of a key was carried, so that refunds of earlier takes concern the successor too. */
  hasCarried(policy: string, key: string): boolean {
    return this.#keys.get(idOf(policy, key)) === true
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
    for (const { close } of this.#replaced) close()
  }

  #carryOne(charge: Charge, moment: Moment | undefined): MaybePromise<void> | undefined {
    const { name } = charge.counter.compiled.policy
    const predecessors = this.predecessorsOf(name)
    if (predecessors.length === 0) return undefined
    const id = idOf(name, charge.key)
    const before = this.#keys.get(id)
    if (before !== undefined) return before === true ? undefined : before
    if (this.#keys.size >= MOST_KEYS) this.#keys.clear()
    const finish = (isCarried: boolean): void => {
      if (isCarried) this.#keys.set(id, true)
      else this.#keys.delete(id)
    }
    const earlier = allOf(this.#earlier.flatMap((one) => [...one.#unsent]))
    const now = this.#clock.now()
    const found = andThen(earlier, () =>
      allOf(predecessors.flatMap(({ open, endsAt }) => (endsAt > now ? usageOf(open, charge.key, moment) : []))),
    )
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
    const open = this.#open.get(charge.counter.compiled.policy.name)
    if (!open || used === 0 || resetAfterMs === 0) return areKnown
    const known = usageUnder(charge.counter.compiled, used, resetAfterMs)
    const answer = open.backend.takeAll([{ ...charge, cost: 0, known }], moment)
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

function usageOf(open: OpenPolicy, key: string, moment: Moment | undefined): MaybePromise<CarriedUsage> {
  const charge = chargeOf(open, key, 0)
  return andThen(open.backend.peekAll([charge], moment), ({ verdicts: [verdict], counted }: Answer) => {
    const { remaining, resetAfterMs } = verdict
    return { used: Math.max(0, charge.counter.compiled.capacity - remaining), resetAfterMs, isCounted: counted }
  })
}

function predecessorsOf(
  one: OpenPolicy,
  { policies }: ReplacedPolicies,
  now: number,
  earlier: CarriedCounts | undefined,
): readonly Predecessor[] {
  const replaced = policies.find(({ policy }) => policy.name === one.policy.name)
  const ended = replaced ? [{ open: replaced, endsAt: now + retentionMs(replaced.counter.compiled) }] : []
  const known: Predecessor[] = []
  for (const next of [...ended, ...(earlier?.predecessorsOf(one.policy.name) ?? [])]) {
    const isLater = known.some(({ open }) => readsSameCells(open, next.open))
    if (next.endsAt > now && !isLater && !readsSameCells(one, next.open)) known.push(next)
  }
  return known.slice(0, MOST_PREDECESSORS)
}

function readsSameCells(one: OpenPolicy, other: OpenPolicy): boolean {
  return one.home === other.home && sharesCells(one.counter, other.counter)
}

function idOf(policy: string, key: string): string {
  return `${policy}\0${key}`
}
