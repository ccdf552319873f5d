import {
  type Call,
  GuardedCalls,
  Health,
  kindOf,
  type MaybePromise,
  Observers,
  SluiceError,
} from '@sluice/limiter-core/backend'
import type { KeyListPlan } from './key-list-options.ts'

/** Receives results of `exact`. `asOf` is the value of `version` at the time of the call. */
interface StageListener {
  version(): number
  answered(key: string, answer: boolean, asOf: number): void
  /** The rule answered instead. */
  ruled(): void
}

/** Each call is for a different key, so that each of several simultaneous failures counts. */
class ExactHealth extends Health {
  override failed(cause: string, error: unknown): void {
    super.failed(cause, error)
  }
}

/**
 * The second stage of a list: calls `exact`, and always answers within the deadline, by the error rule if necessary.
 * While the breaker is open nothing waits, and one call per second checks whether `exact` works again.
 */
export class KeyListStage {
  readonly #plan: KeyListPlan
  readonly #listener: StageListener
  readonly #health: Health
  readonly #calls: GuardedCalls

  constructor(plan: KeyListPlan, listener: StageListener) {
    const { name, clock, deadlineMs } = plan
    const observers = new Observers(plan.observers)
    this.#plan = plan
    this.#listener = listener
    this.#health = new ExactHealth({ name, clock, deadlineMs, observers })
    this.#calls = new GuardedCalls({ health: this.#health, observers, clock, deadlineMs })
  }

  /** Whether `key` is on the list. Never throws and never rejects. */
  ask(key: string): MaybePromise<boolean> {
    if (!this.#health.breaker.admits()) return this.#meanwhile(key)
    const asOf = this.#listener.version()
    const call: Call<boolean, boolean> = {
      operation: 'has',
      send: () => this.#plan.exact(key),
      answered: (answer) => {
        checkListed(answer)
        this.#listener.answered(key, answer, asOf)
        return answer
      },
      fallback: () => this.#ruled(),
    }
    return this.#calls.call(call)
  }

  /** Ends all waits by the rule, and the timer. */
  close(): void {
    this.#calls.close()
  }

  #ruled(): boolean {
    this.#listener.ruled()
    return this.#plan.onError
  }

  /** Answers by the rule while the breaker is open, and makes one background call per second. */
  #meanwhile(key: string): boolean {
    const { clock, exact } = this.#plan
    const now = clock.now()
    if (this.#calls.skipped(now)) this.#calls.probe(async () => checkListed(await exact(key)), now)
    return this.#ruled()
  }
}

/** Throws unless the result is a boolean. */
function checkListed(answer: unknown): void {
  if (typeof answer === 'boolean') return
  throw new SluiceError('SLUICE_BAD_OPTION', `exact: expected true or false, received ${kindOf(answer)}`)
}
