import type { WaterfallDecision, WaterfallPart, WaterfallRefund } from '@sluice/quotas'

const DAY_MS = 86_400_000
/** Number of periods that an account stores. */
const STORED = 4

/** Units that a model part took, and the label of their period. */
interface Taken extends WaterfallPart {
  readonly label: number
}

interface ModelHold {
  readonly units: number
  readonly answer: object
  /** Reserved units of parts, in the order of the waterfall. */
  readonly parts: readonly Taken[]
  readonly endsAt: number
  isSettled: boolean
}

interface ModelTake {
  readonly answer: WaterfallDecision
  readonly parts: readonly Taken[]
  readonly refunds: { readonly own: string; readonly units: number; readonly answer: WaterfallRefund }[]
}

/** One part in plain numbers: the used units of its last periods, and for credits the units bought. */
class ModelPart {
  readonly name: string
  readonly limit: number
  readonly #per: 'day' | 'month' | 'always'
  readonly #used = new Map<number, number>()
  bought = 0
  readonly holds: { readonly label: number; readonly units: number; readonly hold: ModelHold }[] = []
  /** Units charged and not given back, in all periods. */
  charged = 0

  constructor(name: string, limit: number, per: 'day' | 'month' | 'always') {
    this.name = name
    this.limit = limit
    this.#per = per
  }

  /** Start of the period at `now`, which identifies it. */
  labelAt(now: number): number {
    if (this.#per === 'always') return 0
    return this.#per === 'day' ? Math.floor(now / DAY_MS) * DAY_MS : monthAt(now, 0)
  }

  endAt(now: number): number {
    if (this.#per === 'always') return Number.POSITIVE_INFINITY
    return this.#per === 'day' ? this.labelAt(now) + DAY_MS : monthAt(now, 1)
  }

  usedAt(now: number): number {
    return this.#used.get(this.labelAt(now)) ?? 0
  }

  free(now: number): number {
    const label = this.labelAt(now)
    const live = this.holds.filter((one) => one.label === label && !one.hold.isSettled && one.hold.endsAt > now)
    const reserved = live.reduce((sum, { units }) => sum + units, 0)
    return Math.max(0, this.limit + this.bought - this.usedAt(now) - reserved)
  }

  /** Units that can be taken at `at` if nothing is taken from `now` until then. */
  room(at: number, now: number): number {
    return at >= this.endAt(now) ? this.limit : this.free(at)
  }

  /** Stores the period at `now`, and charges units to it. */
  charge(now: number, units: number): Taken {
    const label = this.labelAt(now)
    this.#used.set(label, this.usedAt(now) + units)
    this.charged += units
    const labels = [...this.#used.keys()].sort((one, other) => one - other)
    for (const old of labels.slice(0, -STORED)) this.#used.delete(old)
    return { name: this.name, units, label }
  }

  /** Gives units back to a period. Returns the units given back: 0 if the period is no longer stored. */
  giveBack(label: number, units: number): number {
    const used = this.#used.get(label)
    if (used === undefined) return 0
    this.#used.set(label, used - units)
    this.charged -= units
    return units
  }
}

/** The waterfall of one key in plain TypeScript, without storage: the reference of all implementations. */
export class WaterfallModel {
  readonly parts: readonly ModelPart[]
  readonly #takes = new Map<string, ModelTake>()
  readonly #holds = new Map<string, ModelHold>()
  readonly #topUps = new Set<string>()

  constructor(included: number, overage: number) {
    this.parts = [
      new ModelPart('included', included, 'month'),
      new ModelPart('credits', 0, 'always'),
      new ModelPart('overage', overage, 'day'),
    ]
  }

  take(now: number, units: number, token: string): WaterfallDecision {
    const earlier = this.#takes.get(token)
    if (earlier) return earlier.answer
    const decision = this.peek(now, units)
    return decision.allowed ? this.#charge(now, decision, token) : decision
  }

  reserve(now: number, units: number, token: string, ttlMs: number): object {
    const earlier = this.#holds.get(token)
    if (earlier) return earlier.answer
    const decision = this.peek(now, units)
    if (!decision.allowed) return { ...decision, endsAt: now }
    const parts = this.#written(decision.parts, 0).map((part) => ({
      ...part.charge(now, 0),
      units: decision.parts.find(({ name }) => name === part.name)?.units ?? 0,
    }))
    const endsAt = now + ttlMs
    const answer = { ...decision, remaining: decision.remaining - units, endsAt }
    const hold = { units, answer, parts, endsAt, isSettled: false }
    for (const { name, label, units: own } of parts) {
      this.parts.find((part) => part.name === name)?.holds.push({ label, units: own, hold })
    }
    this.#holds.set(token, hold)
    return answer
  }

  /** Returns the answer of a settlement, or the code of its error. */
  settle(now: number, units: number, token: string): WaterfallDecision | string {
    const earlier = this.#takes.get(token)?.answer
    if (earlier) return earlier.units === units ? earlier : 'SLUICE_TOKEN_REUSED'
    const hold = this.#holds.get(token)
    if (!hold) return 'SLUICE_NO_RESERVATION'
    const isLive = hold.endsAt > now
    hold.isSettled = true
    let left = units
    const parts = this.parts.flatMap((part, index) => {
      const own = index === this.parts.length - 1 ? left : Math.min(left, part.free(now))
      left -= own
      return own > 0 ? [{ name: part.name, units: own }] : []
    })
    const decision = { allowed: true, units, parts, remaining: 0, retryAfterMs: 0, takenAt: now }
    return this.#charge(now, decision, token, isLive ? hold.parts.findLastIndex((part) => part.units > 0) + 1 : 1)
  }

  /** Charges a decision to the parts up to the last part with units, and to at least the first `least` parts. */
  #charge(now: number, decision: WaterfallDecision, token: string, least = 1): WaterfallDecision {
    const parts = this.#written(decision.parts, least).map((part) => {
      const taken = decision.parts.find(({ name }) => name === part.name)
      return part.charge(now, taken?.units ?? 0)
    })
    const answer = { ...decision, remaining: this.#free(now) }
    this.#takes.set(token, { answer, parts, refunds: [] })
    return answer
  }

  #written(parts: readonly WaterfallPart[], least: number): readonly ModelPart[] {
    const last = this.parts.findIndex(({ name }) => name === parts.at(-1)?.name)
    return this.parts.slice(0, Math.max(least, last + 1))
  }

  peek(now: number, units: number): WaterfallDecision {
    const remaining = this.#free(now)
    const allowed = units <= remaining
    let left = units
    const parts = this.parts.flatMap((part) => {
      const own = Math.min(left, part.free(now))
      left -= own
      return own > 0 && allowed ? [{ name: part.name, units: own }] : []
    })
    return { allowed, units, parts, remaining, retryAfterMs: allowed ? 0 : this.#waitMs(now, units), takenAt: now }
  }

  /** Returns the answer of a refund, or the code of its error. */
  refund(units: number, token: string, own: string): WaterfallRefund | string {
    const take = this.#takes.get(token)
    if (!take) return 'SLUICE_UNKNOWN_TAKE'
    const earlier = take.refunds.find((one) => one.own === own)
    if (earlier) return earlier.units === units ? earlier.answer : 'SLUICE_TOKEN_REUSED'
    const before = take.refunds.reduce((sum, one) => sum + one.units, 0)
    if (before + units > take.answer.units) return 'SLUICE_BAD_OPTION'
    // one unit after the other, from the end
    let [skipped, left] = [before, units]
    const parts = take.parts.toReversed().flatMap((taken) => {
      const spared = Math.min(skipped, taken.units)
      skipped -= spared
      const back = Math.min(left, taken.units - spared)
      left -= back
      const part = this.parts.find(({ name }) => name === taken.name)
      const given = back > 0 && part ? part.giveBack(taken.label, back) : 0
      return given > 0 ? [{ name: taken.name, units: given }] : []
    })
    const answer = { units: parts.reduce((sum, part) => sum + part.units, 0), parts }
    take.refunds.push({ own, units, answer })
    return answer
  }

  topUp(units: number, token: string): boolean {
    if (this.#topUps.has(token)) return false
    this.#topUps.add(token)
    this.parts[1].bought += units
    return true
  }

  #free(now: number): number {
    return this.parts.reduce((sum, part) => sum + part.free(now), 0)
  }

  #waitMs(now: number, units: number): number {
    const held = [...this.#holds.values()].filter((hold) => !hold.isSettled && hold.endsAt > now)
    const ends = [...this.parts.map((part) => part.endAt(now)), ...held.map((hold) => hold.endsAt)]
    ends.sort((one, other) => one - other)
    const fits = ends.find((at) => this.parts.reduce((sum, part) => sum + part.room(at, now), 0) >= units)
    return fits === undefined ? Number.POSITIVE_INFINITY : fits - now
  }
}

function monthAt(now: number, offset: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1)
}
