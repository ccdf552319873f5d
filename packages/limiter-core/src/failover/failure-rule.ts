import type { Answer, AnsweredVerdict, Charge, Decision, PolicyVerdict, PriorUsage, Step } from '../contracts.ts'
import { RuledDecision } from '../ruled-decision.ts'
import { ChargeVerdict } from '../verdict.ts'
import type { FailoverRule } from './failover-options.ts'
import type { Mirror, MirrorCharge } from './mirror.ts'
import { MirrorStep } from './mirror-step.ts'
import type { Basis } from './own-units.ts'

/** A denial whose end nobody knows: by then the backend may answer again. */
const RETRY_AFTER_MS = 1_000

/** Answers in the place of a backend: for each step by its rule. Says of every answer that it is not counted. */
export class FailureRule {
  readonly #rule: FailoverRule
  readonly #rules: ReadonlyMap<Step, FailoverRule>
  readonly #mirror: Mirror
  readonly #mirrors = new Map<Step, MirrorStep>()
  // most limiters have one policy: its mirror without a look-up
  #lastStep: Step | undefined
  #lastMirror: MirrorStep | undefined

  /** `rules` are those of steps that have their own; any other has `rule`. */
  constructor(rule: FailoverRule, rules: ReadonlyMap<Step, FailoverRule>, mirror: Mirror) {
    this.#rule = rule
    this.#rules = rules
    this.#mirror = mirror
  }

  /** `basis`: what the backend knows of what is admitted here. */
  take(charges: readonly Charge[], now: number, basis: Basis): Answer {
    // whoever is denied takes nothing
    return this.#byRules(charges, now, (local, denied) => {
      const mirrored = local.map((charge) => this.#mirrored(charge, basis))
      return asHoped(mirrored, denied ? this.#mirror.peek(mirrored, now) : this.#mirror.take(mirrored, now))
    })
  }

  takeOne({ key, step, count, cost }: Charge, now: number, basis: Basis): Decision {
    const { source } = this.#ruleOf(step)
    if (source !== 'local') {
      const [remaining, retryAfterMs] = numbersOf(source)
      return new RuledDecision(source, step.policy, remaining, retryAfterMs, 0, now)
    }
    const mine = this.#mirrorOf(step)
    mine.basis = basis
    const taken = this.#mirror.takeOne(key, mine, count, cost, now)
    const { policy, remaining, retryAfterMs, resetAfterMs, availableAfterMs } = taken
    const waitMs = waitOf(retryAfterMs, cost, mine)
    if (waitMs === retryAfterMs) return taken
    const growsMs = Math.min(availableAfterMs, waitMs)
    return new RuledDecision('local', policy, remaining, waitMs, resetAfterMs, now, growsMs)
  }

  peek(charges: readonly Charge[], now: number): Answer {
    return this.#byRules(charges, now, (local) => {
      const mirrored = local.map((charge) => this.#mirrored(charge))
      return asHoped(mirrored, this.#mirror.peek(mirrored, now))
    })
  }

  /** What is charged to a take that was counted is kept, whoever answers. */
  adjust(charges: readonly Charge[], takenAt: number, now: number, basis: Basis): Answer {
    // a key that is not there is not asked
    for (const { step } of charges) this.#mirrorOf(step).moved = 0
    if (basis === 'counted') {
      const others = charges.filter((charge) => !this.#isLocal(charge))
      if (others.length > 0) this.#adjustLocal(others, takenAt, now, basis)
    }
    return this.#byRules(charges, now, (local) => this.#adjustLocal(local, takenAt, now, basis))
  }

  /** Units by which the last adjustment moved its key here. */
  movedOf({ step }: Charge): number {
    return this.#mirrorOf(step).moved
  }

  /** Of what was given back here, as charges: that of which the backend had been told. */
  takeToldBack(charges: readonly Charge[]): readonly Charge[] {
    return charges.flatMap((charge) => {
      const { own } = this.#mirrorOf(charge.step)
      const units = Math.floor(own.toldBack)
      own.toldBack = 0
      return units > 0 ? [{ ...charge, cost: -units }] : []
    })
  }

  reset(targets: readonly Pick<Charge, 'key' | 'step' | 'count'>[]): void {
    this.#mirror.reset(targets.map((target) => this.#mirrored({ ...target, cost: 0 })))
  }

  /** The backend told what is left of a key, in answer to a call that was made at `heardAt` and took `moved` units. */
  record(charge: Charge, remaining: number, resetAfterMs: number, now: number, heardAt: number, moved: number): void {
    const { capacity } = charge.step
    // what is no number, or has no end, would stay
    if (!(remaining <= capacity && resetAfterMs <= Number.MAX_SAFE_INTEGER)) return
    const used = Math.min(capacity, capacity - remaining)
    this.#mirror.record(charge.key, this.#mirrorOf(charge.step), charge.count, used, resetAfterMs, now, heardAt, moved)
  }

  /** What the backend may not know of a key. Whoever cannot tell what was admitted hands it back. */
  known({ key, step, count }: Charge, now: number): PriorUsage | undefined {
    return this.#mirror.known({ key, step: this.#mirrorOf(step), count }, now)
  }

  /** Takes back what could not be told. */
  handBack({ key, step, count }: Charge, known: PriorUsage | undefined, now: number, basis: Basis): void {
    const admitted = known?.admitted
    if (admitted) this.#mirror.handBack({ key, step: this.#mirrorOf(step), count }, admitted, now, basis)
  }

  /** A charge as the mirror counts it. */
  #mirrored({ key, step, count, cost, advisory }: Charge, basis: Basis = 'counted'): MirrorCharge {
    const mine = this.#mirrorOf(step)
    mine.basis = basis
    return { key, step: mine, count, cost, advisory: advisory === true }
  }

  #mirrorOf(step: Step): MirrorStep {
    if (step === this.#lastStep) return this.#lastMirror as MirrorStep
    let mine = this.#mirrors.get(step)
    if (mine === undefined) {
      mine = new MirrorStep(step, this.#ruleOf(step).share)
      this.#mirrors.set(step, mine)
      this.#mirror.mirrors(mine)
    }
    this.#lastStep = step
    this.#lastMirror = mine
    return mine
  }

  #adjustLocal(charges: readonly Charge[], takenAt: number, now: number, basis: Basis): Answer {
    const mirrored = charges.map((charge) => this.#mirrored(charge, basis))
    return asHoped(mirrored, this.#mirror.adjust(mirrored, takenAt, now))
  }

  /** `count` answers those whose rule is to count here; `denied` is true where the rule of another one denies. */
  #byRules(
    charges: readonly Charge[],
    now: number,
    count: (local: readonly Charge[], denied: boolean) => Answer,
  ): Answer {
    const local = charges.filter((charge) => this.#isLocal(charge))
    if (local.length === charges.length) return count(local, false)
    const sources = charges.map(({ step }) => this.#ruleOf(step).source)
    const denied = charges.some(({ advisory }, index) => sources[index] === 'deny' && !advisory)
    const counted = local.length > 0 ? [...count(local, denied).verdicts] : []
    const verdicts = charges.map((charge, index) => {
      const source = sources[index]
      return source === 'local' ? (counted.shift() as PolicyVerdict) : flat(charge, source)
    })
    return { verdicts, takenAt: now, counted: false, source: strictestOf(sources) }
  }

  #isLocal({ step }: Charge): boolean {
    return this.#ruleOf(step).source === 'local'
  }

  #ruleOf(step: Step): FailoverRule {
    return this.#rules.get(step) ?? this.#rule
  }
}

type Source = FailoverRule['source']

const BY_STRICTNESS: readonly Source[] = ['deny', 'local', 'allow']

function strictestOf(sources: readonly Source[]): Source {
  return BY_STRICTNESS.find((source) => sources.includes(source)) as Source
}

function flat({ step, advisory }: Charge, source: Source): PolicyVerdict {
  const [remaining, retryAfterMs] = numbersOf(source)
  return new ChargeVerdict(step.policy, advisory === true, remaining, retryAfterMs, 0)
}

/** Who lets everybody pass has no end of units; who denies everybody has none. */
function numbersOf(source: Source): readonly [remaining: number, retryAfterMs: number] {
  return source === 'allow' ? [Number.POSITIVE_INFINITY, 0] : [0, RETRY_AFTER_MS]
}

function asHoped(charges: readonly MirrorCharge[], answer: Answer): Answer {
  if (charges.every(({ step }) => step.capacity === step.fullCapacity)) return answer
  return { ...answer, verdicts: answer.verdicts.map((verdict, index) => hopeful(verdict, charges[index])) }
}

function hopeful(verdict: AnsweredVerdict, { step, cost }: MirrorCharge): AnsweredVerdict {
  const { policy, shadow, remaining, retryAfterMs, resetAfterMs, availableAfterMs = retryAfterMs } = verdict
  const waitMs = waitOf(retryAfterMs, cost, step)
  if (waitMs === retryAfterMs) return verdict
  return new ChargeVerdict(policy, shadow, remaining, waitMs, resetAfterMs, Math.min(availableAfterMs, waitMs))
}

/** What never fits into the share of this process may fit once the backend answers again. */
function waitOf(retryAfterMs: number, cost: number, { fullCapacity }: MirrorStep): number {
  return retryAfterMs === Number.POSITIVE_INFINITY && cost <= fullCapacity ? RETRY_AFTER_MS : retryAfterMs
}
