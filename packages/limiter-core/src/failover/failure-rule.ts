import type { Answer, Charge, Decision, Known, PolicyVerdict, Step } from '../contracts.ts'
import { RuledDecision } from '../ruled-decision.ts'
import { ChargeVerdict } from '../verdict.ts'
import type { FailoverRule } from './failover-options.ts'
import type { Mirror, MirrorCharge } from './mirror.ts'
import { MirrorStep } from './mirror-step.ts'
import type { Basis } from './own-units.ts'

/** A denial whose end nobody knows: by then the backend may answer again. */
const RETRY_AFTER_MS = 1_000

/** Answers in the place of a backend, by one rule. Says of every answer that it is not counted. */
export class FailureRule {
  readonly #source: FailoverRule['source']
  readonly #share: number
  readonly #mirror: Mirror
  readonly #mirrors = new Map<Step, MirrorStep>()
  // most limiters have one policy: its mirror without a look-up
  #lastStep: Step | undefined
  #lastMirror: MirrorStep | undefined

  constructor({ source, share }: FailoverRule, mirror: Mirror) {
    this.#source = source
    this.#share = share
    this.#mirror = mirror
  }

  /** `basis`: what the backend knows of what is admitted here. */
  take(charges: readonly Charge[], now: number, basis: Basis): Answer {
    if (this.#source !== 'local') return this.#flat(charges, now)
    const mirrored = charges.map((charge) => this.#mirrored(charge, basis))
    return this.#local(mirrored, this.#mirror.take(mirrored, now))
  }

  takeOne({ key, step, count, cost }: Charge, now: number, basis: Basis): Decision {
    if (this.#source !== 'local') return this.#flatOne(step, now)
    const mine = this.#mirrorOf(step)
    mine.basis = basis
    const taken = this.#mirror.takeOne(key, mine, count, cost, now)
    const { policy, remaining, retryAfterMs, resetAfterMs } = taken
    const waitMs = waitOf(retryAfterMs, cost, mine)
    return waitMs === retryAfterMs ? taken : new RuledDecision('local', policy, remaining, waitMs, resetAfterMs, now)
  }

  peek(charges: readonly Charge[], now: number): Answer {
    if (this.#source !== 'local') return this.#flat(charges, now)
    const mirrored = charges.map((charge) => this.#mirrored(charge))
    return this.#local(mirrored, this.#mirror.peek(mirrored, now))
  }

  /** What is charged to a take that was counted is kept, whoever answers. */
  adjust(charges: readonly Charge[], takenAt: number, now: number, basis: Basis): Answer {
    if (basis !== 'counted' && this.#source !== 'local') return this.#flat(charges, now)
    const mirrored = charges.map((charge) => this.#mirrored(charge, basis))
    const adjusted = this.#mirror.adjust(mirrored, takenAt, now)
    return this.#source === 'local' ? this.#local(mirrored, adjusted) : this.#flat(charges, now)
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

  /** The backend told what is left of a key, in answer to a call that was made at `heardAt`. */
  told(charge: Charge, remaining: number, resetAfterMs: number, now: number, heardAt: number): void {
    const { capacity } = charge.step
    // what is no number, or has no end, would stay
    if (!(remaining <= capacity && resetAfterMs <= Number.MAX_SAFE_INTEGER)) return
    const used = Math.min(capacity, capacity - remaining)
    this.#mirror.told(charge.key, this.#mirrorOf(charge.step), charge.count, used, resetAfterMs, now, heardAt)
  }

  /** What the backend may not know of a key. Whoever cannot tell what was admitted hands it back. */
  known({ key, step, count }: Charge, now: number): Known | undefined {
    return this.#mirror.known({ key, step: this.#mirrorOf(step), count }, now)
  }

  /** Takes back what could not be told. */
  handBack({ key, step, count }: Charge, known: Known | undefined, now: number, basis: Basis): void {
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
      mine = new MirrorStep(step, this.#share)
      this.#mirrors.set(step, mine)
      this.#mirror.mirrors(mine)
    }
    this.#lastStep = step
    this.#lastMirror = mine
    return mine
  }

  #local(charges: readonly MirrorCharge[], answer: Answer): Answer {
    if (this.#share === 1) return answer
    return { ...answer, verdicts: answer.verdicts.map((verdict, index) => hopeful(verdict, charges[index])) }
  }

  #flat(charges: readonly Charge[], now: number): Answer {
    const verdicts = charges.map(({ step, advisory }) => {
      const [remaining, retryAfterMs] = this.#numbers()
      return new ChargeVerdict(step.policy, advisory === true, remaining, retryAfterMs, 0)
    })
    return { verdicts, takenAt: now, counted: false, source: this.#source }
  }

  #flatOne({ policy }: Step, now: number): Decision {
    const [remaining, retryAfterMs] = this.#numbers()
    return new RuledDecision(this.#source, policy, remaining, retryAfterMs, 0, now)
  }

  /** Who lets everybody pass has no end of units; who denies everybody has none. */
  #numbers(): readonly [remaining: number, retryAfterMs: number] {
    return this.#source === 'allow' ? [Number.POSITIVE_INFINITY, 0] : [0, RETRY_AFTER_MS]
  }
}

function hopeful(verdict: PolicyVerdict, { step, cost }: MirrorCharge): PolicyVerdict {
  const waitMs = waitOf(verdict.retryAfterMs, cost, step)
  if (waitMs === verdict.retryAfterMs) return verdict
  return new ChargeVerdict(verdict.policy, verdict.shadow, verdict.remaining, waitMs, verdict.resetAfterMs)
}

/** What never fits into the share of this process may fit once the backend answers again. */
function waitOf(retryAfterMs: number, cost: number, { fullCapacity }: MirrorStep): number {
  return retryAfterMs === Number.POSITIVE_INFINITY && cost <= fullCapacity ? RETRY_AFTER_MS : retryAfterMs
}
