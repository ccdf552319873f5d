import type { Policy } from '@sluice/limiter-core'
import { type ReferenceModel, referenceModel } from '@sluice/testkit'
import { type DrawnPolicy, LONGEST_BAN_MS, OVERRIDDEN } from './drawn-setup.ts'

const STRIKES_WITHIN_MS = 30_000

/** The numbers of a key under one policy. */
export interface Seen {
  readonly remaining: number
  readonly resetAfterMs: number
  readonly capacity: number
  readonly isBanned: boolean
}

/** Units that a take has spent, until they are refunded. */
export interface Spent {
  readonly at: number
  units: number
}

/** Units of a hold. They return at some time from `from` to `until`. */
interface HeldUnits {
  readonly units: number
  readonly from: number
  readonly until: number
}

/** What a key may do under one policy, by the reference model of its algorithm. */
export class Account {
  readonly key: string
  drawn: DrawnPolicy
  /** What is used; undefined if the history is one that no model describes, until the next reset. */
  #model: ReferenceModel | undefined
  /** Whether requests change more than what they take: its storage has failed, or its clock was set back. */
  isDisturbed = false
  /** Whether a charge of a weighted window was undone: its units may count longer than the model says. */
  wasUndone = false
  readonly #held = new Map<object, HeldUnits>()
  /** What was spent under the current terms. */
  readonly spent: Spent[] = []
  readonly #strikes: number[] = []
  /** No ban runs after this time. */
  #bannedUntil = Number.NEGATIVE_INFINITY

  constructor(key: string, drawn: DrawnPolicy, hasModel: boolean) {
    this.key = key
    this.drawn = drawn
    this.reset(hasModel)
  }

  get policy(): Policy {
    const { input, override } = this.drawn
    const { name, window: windowMs, algorithm = 'sliding-window', burst, slices } = input
    const limit = this.key === OVERRIDDEN && override !== undefined ? override : input.limit
    return { name, algorithm, limit, windowMs, ...(burst && { burst }), ...(slices && { slices }) }
  }

  reset(hasModel: boolean): void {
    this.isDisturbed = false
    this.wasUndone = false
    this.#model = hasModel ? referenceModel(this.policy) : undefined
    this.#held.clear()
    this.spent.length = 0
    this.lift()
  }

  /** The history is now one that no model describes. */
  forget(): void {
    this.#model = undefined
    this.spent.length = 0
  }

  /** Records that an earlier storage took units, and got them back. */
  undo(): void {
    const { algorithm, slices = 1 } = this.policy
    this.wasUndone ||= algorithm === 'sliding-window' && slices === 1
  }

  /** From now on, requests change more than what they take. */
  disturb(): void {
    this.forget()
    this.isDisturbed = true
  }

  take(now: number, units: number): void {
    if (units > 0) this.#model?.take(now, units)
  }

  adjust(now: number, units: number, takenAt: number): void {
    if (!this.#model || units === 0) return
    // a log that may have a larger limit has room for more
    if (units > 0 && this.policy.algorithm === 'sliding-log' && this.#model.peek(now, 0).remaining < units)
      this.forget()
    else this.#model.adjust(now, units, Math.min(now, takenAt))
  }

  hold(owner: object, units: number, from: number): void {
    const sliceMs = Math.ceil(Number(this.drawn.input.maxHoldMs) / 8)
    this.#held.set(owner, { units, from, until: from + sliceMs })
  }

  /** Returns the units that a hold still holds; undefined if that is not certain. */
  heldOf(owner: object, now: number): number | undefined {
    const held = this.#held.get(owner)
    if (!held || now > held.until) return 0
    return now < held.from ? held.units : undefined
  }

  release(owner: object): void {
    this.#held.delete(owner)
  }

  /** Returns the units that are left, and the wait of a cost; undefined if no model describes them. */
  expected(now: number, cost: number): Expected | undefined {
    if (!this.#model) return undefined
    let held = 0
    for (const owner of this.#held.keys()) {
      const units = this.heldOf(owner, now)
      if (units === undefined) return undefined
      held += units
    }
    const { remaining, resetAfterMs } = this.#model.peek(now, 0)
    const { retryAfterMs } = this.#model.peek(now, cost === 0 ? 0 : cost + held)
    return { remaining: Math.max(0, remaining - held), resetAfterMs, retryAfterMs, held }
  }

  /** Records a strike, or a request of a banned key. */
  strike(now: number): void {
    this.#strikes.push(now)
  }

  lift(): void {
    this.#strikes.length = 0
    this.#bannedUntil = Number.NEGATIVE_INFINITY
  }

  /** Records a ban that may last as long as the longest one. */
  ban(now: number): void {
    this.#bannedUntil = Math.max(this.#bannedUntil, now + LONGEST_BAN_MS)
  }

  /** Returns whether a key that is banned may be so, and records that it is. */
  mayBeBanned(now: number): boolean {
    if (now <= this.#bannedUntil) return true
    const { ban } = this.drawn.input
    // strikes are counted in windows, or in two of them
    const recent = this.#strikes.filter((at) => at > now - 2 * STRIKES_WITHIN_MS)
    if (!ban || recent.length < ban.after) return false
    this.#strikes.length = 0
    this.ban(now)
    return true
  }
}

/** What a model expects of a key. */
export interface Expected {
  readonly remaining: number
  readonly resetAfterMs: number
  readonly retryAfterMs: number
  readonly held: number
}

/** Returns the most units that a policy admits in any window; see `docs/algorithms.md`. */
export function mostInWindow({ algorithm, limit, burst, slices = 1 }: Policy): number {
  if (algorithm === 'token-bucket' || algorithm === 'gcra') return (burst ?? limit) + limit
  return algorithm === 'sliding-log' || (algorithm === 'sliding-window' && slices > 1) ? limit : 2 * limit
}
