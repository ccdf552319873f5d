import {
  type Answer,
  type Backend,
  type BackendErrorRule,
  type Charge,
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  createLimiter,
  type Interruption,
  type Limiter,
  type MaybePromise,
  type Moment,
  memoryBackend,
  type PolicyInput,
} from '@sluice/limiter-core'
import { FakeClock, FrontCounters, Warnings, Watcher } from '@sluice/testkit'

/** What a patient does with a call: it counts and answers, or an error, or nothing ever, or whatever a test says. */
export type Condition = 'well' | 'silent' | Error | ((call: Heard['call']) => unknown)

/** One call that a patient heard. */
export interface Heard {
  readonly call: 'take' | 'peek' | 'adjust' | 'reset'
  readonly charges: readonly Charge[]
  readonly moment: Moment | undefined
}

/** A backend behind a network that a test makes ill and well: it has its own time, and tells what it heard. */
export class Patient implements Backend {
  readonly name = 'patient'
  readonly heard: Heard[] = []
  readonly opened: Counter[] = []
  condition: Condition = 'well'
  readonly #clock: Clock
  readonly #listeners = new Set<(event: Interruption) => void>()
  #memory: Backend<Answer>
  #counters: FrontCounters

  /** Its clock is ahead of that of the limiters, as a server's is. */
  constructor(clock: FakeClock, aheadMs = 0) {
    this.#clock = { now: () => clock.now() + aheadMs, wall: () => clock.wall(), after: () => () => {} }
    this.#memory = memoryBackend({ clock: this.#clock })
    this.#counters = new FrontCounters(this.#memory)
  }

  open(compiled: CompiledPolicy, name: string): Counter {
    const counter = this.#counters.open(this, compiled, name)
    this.opened.push(counter)
    return counter
  }

  takeAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    return this.#does('take', charges, moment, () => this.#memory.takeAll(this.#counters.behind(charges)))
  }

  peekAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    return this.#does('peek', charges, moment, () => this.#memory.peekAll(this.#counters.behind(charges)))
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    return this.#does('adjust', charges, moment, () => this.#memory.adjustAll(this.#counters.behind(charges), takenAt))
  }

  resetAll(keys: readonly CountedKey[]): MaybePromise<void> {
    const behind = this.#counters.behind(keys)
    return this.#does('reset', keys as readonly Charge[], undefined, () => this.#memory.resetAll(behind))
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get listeners(): number {
    return this.#listeners.size
  }

  tell(event: Interruption): void {
    for (const listener of this.#listeners) listener(event)
  }

  /** Its counts are gone, and nobody hears of it. */
  forget(): void {
    this.#memory = memoryBackend({ clock: this.#clock })
    this.#counters = new FrontCounters(this.#memory)
  }

  /** Killed and started again: it is empty. */
  restart(): void {
    this.tell('lost')
    this.forget()
    this.tell('back')
  }

  /** Names of the calls since it was asked last. */
  calls(): string[] {
    return this.heard.splice(0).map(({ call }) => call)
  }

  #does<T>(
    call: Heard['call'],
    charges: readonly Charge[],
    moment: Moment | undefined,
    count: () => MaybePromise<T>,
  ): MaybePromise<T> {
    this.heard.push({ call, charges, moment })
    const { condition } = this
    if (condition === 'silent') return new Promise(() => {})
    if (condition instanceof Error) return Promise.reject(condition)
    if (condition === 'well') return Promise.resolve().then(count)
    return condition(call) as T
  }
}

/** An error as a server sends it. */
export function serverError(code: string, more: object = {}): Error {
  return Object.assign(new Error(`${code} of a test`), { code }, more)
}

/** Unless said. */
const DEADLINE_MS = 50

export interface Ward {
  readonly clock: FakeClock
  readonly patient: Patient
  readonly watcher: Watcher
  readonly warnings: Warnings
  /** A limiter on the patient: 4 a minute in a fixed window, unless said. */
  limiter(rule?: BackendErrorRule, policy?: Partial<PolicyInput>): Limiter
  /** What is answered, if need be at the deadline. */
  answered<T>(answer: MaybePromise<T>): Promise<T>
  /** Takes so often, and tells which were allowed and who answered. */
  takes(limiter: Limiter, times: number, key?: string): Promise<string>
}

const wards: Ward[] = []

/** A patient, a clock, and who watches. */
export function ward(aheadMs = 0): Ward {
  const clock = new FakeClock({ nowMs: 1_000 })
  const patient = new Patient(clock, aheadMs)
  const watcher = new Watcher()
  const warnings = new Warnings()
  warnings.listen()
  const made: Ward = {
    clock,
    patient,
    watcher,
    warnings,
    limiter: (onBackendError, policy) =>
      createLimiter({
        policies: [{ limit: 4, window: '1m', algorithm: 'fixed-window', ...policy }],
        backend: patient,
        shared: true,
        clock,
        observers: [watcher],
        onBackendError,
      }),
    answered: async (answer) => {
      await settled()
      clock.advance(patient.condition === 'silent' ? DEADLINE_MS : 0)
      return answer
    },
    takes: async (limiter, times, key = 'key') => {
      let seen = ''
      for (let taken = 0; taken < times; taken++) {
        const { allowed, counted, source } = await made.answered(limiter.take(key))
        seen += `${allowed ? '+' : '-'}${counted ? 'counted' : source} `
      }
      return seen.trim()
    },
  }
  wards.push(made)
  return made
}

/** For `afterEach`. */
export function closeWards(): void {
  for (const { warnings } of wards.splice(0)) warnings.stop()
}

/** Makes the breaker open, by ten failures of a key that no test looks at. */
export async function openBreaker({ patient }: Ward, limiter: Limiter): Promise<void> {
  const { condition } = patient
  patient.condition = serverError('CONNECTION')
  for (let failed = 0; failed < 10; failed++) await limiter.take('of the breaker')
  patient.condition = condition
  patient.calls()
}

/** Lets the breaker close: a probe after a second, then the trial. */
export async function closeBreaker({ patient, clock }: Ward, limiter: Limiter): Promise<void> {
  patient.condition = 'well'
  clock.advance(1_000)
  await limiter.take('of the breaker')
  await settled()
  await limiter.take('of the breaker')
  patient.calls()
}

/** Everything that promises do by themselves is done. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
