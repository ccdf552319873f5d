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

/** How the backend handles a call: it answers, never answers, rejects with an error, or runs a function of the test. */
export type Condition = 'well' | 'silent' | Error | ((call: Heard['call']) => unknown)

/** A call that the backend received. */
export interface Heard {
  readonly call: 'take' | 'peek' | 'adjust' | 'reset'
  readonly charges: readonly Charge[]
  readonly moment: Moment | undefined
}

/** A backend with its own clock and a failure mode set by the test. It records the calls that it receives. */
export class FlakyBackend implements Backend {
  readonly name = 'flaky'
  readonly keepsHolds = true
  readonly booksTurns = true
  readonly heard: Heard[] = []
  readonly opened: Counter[] = []
  condition: Condition = 'well'
  readonly #clock: Clock
  readonly #listeners = new Set<(event: Interruption) => void>()
  #memory: Backend<Answer>
  #counters: FrontCounters

  /** The clock of the backend can be ahead of the clock of the limiters, as the clock of a server can. */
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

  /** Drops all counts without a notification. */
  forget(): void {
    this.#memory = memoryBackend({ clock: this.#clock })
    this.#counters = new FrontCounters(this.#memory)
  }

  /** Simulates a crash and restart: reports the interruption and drops all counts. */
  restart(): void {
    this.tell('lost')
    this.forget()
    this.tell('back')
  }

  /** Names of the calls since `calls` was last used. */
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

/** Returns an error as a server sends it. */
export function serverError(code: string, more: object = {}): Error {
  return Object.assign(new Error(`${code} of a test`), { code }, more)
}

/** The default of the limiters. */
const DEADLINE_MS = 50

export interface FailoverBench {
  readonly clock: FakeClock
  readonly flaky: FlakyBackend
  readonly watcher: Watcher
  readonly warnings: Warnings
  /** Creates a limiter on the backend. Default policy: 4 a minute in a fixed window. */
  limiter(rule?: BackendErrorRule, policy?: Partial<PolicyInput>): Limiter
  /** Awaits an answer. Advances the clock to the deadline if the backend is silent. */
  answered<T>(answer: MaybePromise<T>): Promise<T>
  /** Takes the given number of times. Returns which takes were allowed and which source decided each of them. */
  takes(limiter: Limiter, times: number, key?: string): Promise<string>
}

const benches: FailoverBench[] = []

/** Creates a bench: a backend, a clock and observers. */
export function failoverBench(aheadMs = 0): FailoverBench {
  const clock = new FakeClock({ nowMs: 1_000 })
  const flaky = new FlakyBackend(clock, aheadMs)
  const watcher = new Watcher()
  const warnings = new Warnings()
  warnings.listen()
  const made: FailoverBench = {
    clock,
    flaky,
    watcher,
    warnings,
    limiter: (onBackendError, policy) =>
      createLimiter({
        policies: [{ limit: 4, window: '1m', algorithm: 'fixed-window', ...policy }],
        backend: flaky,
        shared: true,
        clock,
        observers: [watcher],
        onBackendError,
      }),
    answered: async (answer) => {
      await settled()
      clock.advance(flaky.condition === 'silent' ? DEADLINE_MS : 0)
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
  benches.push(made)
  return made
}

/** Closes all benches; for `afterEach`. */
export function closeBenches(): void {
  for (const { warnings } of benches.splice(0)) warnings.stop()
}

/** Opens the breaker with ten failures of a key that no test uses. */
export async function openBreaker({ flaky }: FailoverBench, limiter: Limiter): Promise<void> {
  const { condition } = flaky
  flaky.condition = serverError('CONNECTION')
  for (let failed = 0; failed < 10; failed++) await limiter.take('of the breaker')
  flaky.condition = condition
  flaky.calls()
}

/** Lets the breaker close: a probe after a second, then the trial call. */
export async function closeBreaker({ flaky, clock }: FailoverBench, limiter: Limiter): Promise<void> {
  flaky.condition = 'well'
  clock.advance(1_000)
  await limiter.take('of the breaker')
  await settled()
  await limiter.take('of the breaker')
  flaky.calls()
}

/** Resolves after all pending promise callbacks have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
