import { causeOf } from '../backend/backend-failure.ts'
import { plainCharge } from '../backend/plain-charge.ts'
import type { Backend, BackendVerdict, Charge } from '../contracts.ts'
import { hasDenial } from '../decision/verdict.ts'
import { type FailoverCharge, remoteCharge } from './failover-counter.ts'
import type { Health } from './health/health.ts'

/** Reports units that the failure rule admitted, to backends that implement `passed`. Never throws. */
export class AdmittedUnitsReporter {
  readonly #remote: Backend
  readonly #health: Pick<Health, 'reportFailure'>

  constructor(remote: Backend, health: Pick<Health, 'reportFailure'>) {
    this.#remote = remote
    this.#health = health
  }

  /** Whether the backend implements `passed`. */
  get isSupported(): boolean {
    return this.#remote.passed !== undefined
  }

  /**
   * Reports a take that the rule decided at `takenAt`. `late` is the reply, which may still be rejected, to a take that
   * was possibly counted: its units are then refunded, so that they count once.
   */
  taken(
    charges: readonly FailoverCharge[],
    verdicts: readonly BackendVerdict[],
    takenAt: number,
    late?: Promise<readonly BackendVerdict[]>,
  ): void {
    const isPassed = passedOf(charges, verdicts)
    const plain = charges.map((charge) => plainCharge(remoteCharge(charge)))
    const passed = plain.filter((_, index) => isPassed[index])
    this.#report(passed, takenAt)
    const giveBack = (answered: readonly BackendVerdict[]): void => {
      if (hasDenial(answered)) return
      const twice = plain.filter((_, index) => isPassed[index] && answered[index].allowed)
      const back = twice.map((charge) => ({ ...charge, cost: -charge.cost }))
      this.#report(back, takenAt)
    }
    late?.then(giveBack).catch(() => undefined)
  }

  /** Reports late charges, or refunds if negative, to a take that a rule decided at `takenAt`. */
  adjusted(charges: readonly FailoverCharge[], takenAt: number): void {
    const passed = charges.filter(({ counter }) => counter.rule.source !== 'deny')
    this.#report(passed.map(remoteCharge), takenAt)
  }

  #report(charges: readonly Charge[], takenAt: number): void {
    const passed = charges.filter(({ cost }) => cost !== 0)
    if (passed.length === 0) return
    try {
      this.#remote.passed?.(passed, takenAt)
    } catch (error) {
      this.#health.reportFailure(causeOf(error), error)
    }
  }
}

/** Returns the charges that the rule took, as a backend does: all enforced ones or none; advisory ones if all fit. */
export function passedOf(charges: readonly FailoverCharge[], verdicts: readonly BackendVerdict[]): readonly boolean[] {
  const isRuled = charges.map(({ counter }) => counter.rule.source !== 'deny')
  const isDenied = hasDenial(verdicts)
  const allFit = verdicts.every(({ allowed }, index) => allowed || !isRuled[index])
  return charges.map(({ advisory }, index) => isRuled[index] && !isDenied && (allFit || !advisory))
}
