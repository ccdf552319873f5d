import assert from 'node:assert/strict'
import { type AlgorithmName, createLimiter, type Decision } from '@sluice/limiter-core'
import { FakeClock, numberOfRuns, type SeededRandom } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { SteppedClock } from './stepped-clock.ts'
import type { SiteKind } from './stepped-sites.ts'

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 3_600_000
const HOURS = numberOfRuns(24)
const LIMIT = 200
/** Longest time after which a denied key is admitted again: its window, and leases and reports that are under way. */
const WAIT_MS = MINUTE + 5_000
const STEP_MS = 1_000
const QUIET_MS = 2_500
/** Shorter than the deadline of any call of a backend. */
const CALL_MS = 50
/** Steps with traffic in each hour. */
const BUSY_STEPS = (1.2 * MINUTE) / STEP_MS
const STEPS = [SECOND, -SECOND, MINUTE, -MINUTE, HOUR, -HOUR]
const ALL: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra']
/** What an algorithm guarantees in any window, in limits. */
const GUARANTEES: Readonly<Record<AlgorithmName, number>> = {
  'fixed-window': 2,
  'sliding-window': 2,
  'sliding-log': 1,
  'token-bucket': 2,
  gcra: 2,
}
/** Mean units of a key in a step, for each algorithm: far above its limit, about its limit, and far below. */
const DEMANDS: Readonly<Record<string, number>> = { busy: 16, even: 3.2, calm: 0.2 }

interface Parts {
  readonly kind: SiteKind
  readonly random: SeededRandom
  readonly redis: Redis
  readonly prefix: string
}

interface Admission {
  readonly at: number
  readonly units: number
}

/** A day of virtual time, or a part of it in a short run, on one backend with two processes, whose wall clocks are set. */
export class SteppedDay {
  /** Largest part of the guarantee that was admitted in any window. */
  most = 0
  admitted = 0
  denied = 0
  steps = 0
  /** Timers that were set in each hour. */
  readonly timers: number[] = []
  readonly #parts: Parts
  readonly #shared = new FakeClock({ nowMs: 1_000 })
  readonly #clocks = [new SteppedClock(this.#shared), new SteppedClock(this.#shared)]
  readonly #site
  readonly #limiters
  #latestWall = 0
  readonly #admissions = new Map<string, Admission[]>()

  constructor(parts: Parts) {
    this.#parts = parts
    const { kind, random, redis, prefix } = parts
    this.#site = kind.make({ shared: this.#shared, clocks: this.#clocks, random, redis, prefix })
    this.#limiters = (kind.algorithms ?? ALL).map((algorithm) =>
      this.#site.backends.map((backend, process) =>
        createLimiter({
          policies: [{ name: algorithm, algorithm, limit: algorithm === 'sliding-log' ? 100 : LIMIT, window: '1m' }],
          backend,
          shared: true,
          scope: algorithm,
          clock: this.#clocks[process],
          // a reply of Redis takes real time, in which the clock may be moved
          deadlineMs: MINUTE,
        }),
      ),
    )
  }

  async run(): Promise<void> {
    for (let hour = 0; hour < HOURS; hour++) {
      const before = this.#timersSet
      const endsAt = this.#shared.now() + HOUR
      this.#site.onHour?.(hour)
      await this.#traffic(hour)
      await this.#recover()
      while (this.#shared.now() < endsAt) await this.#pass(Math.min(MINUTE, endsAt - this.#shared.now()))
      this.timers.push(this.#timersSet - before)
      // admissions of this hour are in no window of the next one
      this.#admissions.clear()
    }
  }

  async close(): Promise<void> {
    for (const limiter of this.#limiters.flat()) limiter.close()
    const closed = Promise.all(this.#site.backends.map((backend) => backend.close?.())).then(() => this.#site.close?.())
    await this.#settled(closed)
  }

  /** How long a server whose clock was set back needs to reach its latest time again. */
  get #lateMs(): number {
    return this.#parts.kind.hasServerSteps ? Math.max(0, this.#latestWall - this.#shared.wall()) : 0
  }

  get #timersSet(): number {
    return this.#clocks.reduce((sum, { timers }) => sum + timers, 0)
  }

  async #traffic(hour: number): Promise<void> {
    const { random } = this.#parts
    const stepsAt = new Set(hour === 0 ? [] : Array.from({ length: 3 }, () => random.whole(BUSY_STEPS)))
    for (let step = 0; step < BUSY_STEPS; step++) {
      if (stepsAt.has(step)) this.#stepClocks()
      const takes = Object.entries(DEMANDS).flatMap(([key, demand]) =>
        this.#limiters.flatMap((_, algorithm) => {
          const units = Math.floor(demand * 2 * random.next() + random.next())
          return units === 0 ? [] : [this.#take(key, algorithm, units)]
        }),
      )
      await this.#settled(Promise.all(takes))
      await this.#pass(STEP_MS)
    }
  }

  /** Sets the wall clock of a process; sometimes of the machine, or together with the monotonic clock. */
  #stepClocks(): void {
    const { random } = this.#parts
    this.steps++
    const ms = random.pick(STEPS)
    const { isOneMachine = false } = this.#parts.kind
    const way = random.whole(4)
    if (way < 2 && !isOneMachine) this.#clocks[way].step(ms)
    else if (way < 3) this.#shared.stepWall(ms)
    // a machine that was suspended
    else this.#shared.advance(Math.abs(ms) / 60)
    this.#latestWall = Math.max(this.#latestWall, this.#shared.wall())
  }

  async #take(key: string, algorithm: number, units: number): Promise<Decision> {
    const at = this.#shared.now()
    const limiter = this.#parts.random.pick(this.#limiters[algorithm])
    const decision: Decision = await limiter.take(key, units)
    checkNumbers(decision, this.#lateMs)
    if (!decision.allowed) this.denied++
    else {
      this.admitted++
      this.#record(`${algorithm} ${key}`, { at, units })
    }
    return decision
  }

  #record(key: string, admission: Admission): void {
    const admissions = this.#admissions.get(key) ?? []
    this.#admissions.set(key, admissions)
    admissions.push(admission)
    const algorithm = (this.#parts.kind.algorithms ?? ALL)[Number(key.split(' ')[0])]
    const limit = algorithm === 'sliding-log' ? 100 : LIMIT
    let sum = 0
    for (let index = admissions.length - 1; index >= 0 && admissions[index].at > admission.at - MINUTE; index--) {
      sum += admissions[index].units
    }
    this.most = Math.max(this.most, sum / (limit * GUARANTEES[algorithm]))
  }

  /** Every key, denied or not, has units again after a window without traffic, in each process. */
  async #recover(): Promise<void> {
    const lateMs = this.#lateMs
    for (let passedMs = 0; passedMs < lateMs; passedMs += MINUTE) await this.#pass(MINUTE)
    for (let passedMs = 0; passedMs < WAIT_MS; passedMs += QUIET_MS) await this.#pass(QUIET_MS)
    const refused: string[] = []
    for (const limiters of this.#limiters) {
      for (const key of Object.keys(DEMANDS)) {
        for (const [process, limiter] of limiters.entries()) {
          const taken = Promise.resolve(limiter.take(key)) as Promise<Decision>
          await this.#settled(taken)
          if (!(await taken).allowed) refused.push(`${limiter.policies[0].name} ${key} in process ${process}`)
        }
      }
    }
    assert.deepEqual(refused, [])
  }

  async #pass(ms: number): Promise<void> {
    const { idle } = this.#site
    // between hours of traffic, calls may end without a reply
    const stepMs = idle && ms < MINUTE ? CALL_MS : ms
    for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
      // replies that are under way arrive in time
      await idle?.()
      for (let turn = 0; turn < 3; turn++) await nextTurn()
      this.#shared.advance(Math.min(stepMs, ms - passedMs))
      this.#latestWall = Math.max(this.#latestWall, this.#shared.wall())
    }
    await idle?.()
    for (let turn = 0; turn < 3; turn++) await nextTurn()
  }

  /** Waits for answers, and lets time pass if they need it. */
  async #settled(answers: Promise<unknown>): Promise<void> {
    let isSettled = false
    const settle = (): void => {
      isSettled = true
    }
    answers.then(settle, settle)
    for (let turn = 1; !isSettled; turn++) {
      await nextTurn()
      if (turn % 100 === 0) this.#shared.advance(10)
    }
    await answers
  }
}

function checkNumbers({ allowed, retryAfterMs, verdicts }: Decision, lateMs: number): void {
  const [{ remaining, resetAfterMs, policy }] = verdicts
  const isCount = remaining >= 0 && remaining <= policy.limit
  const isTime = [retryAfterMs, resetAfterMs].every((ms) => ms >= 0 && ms <= 2 * MINUTE + lateMs)
  assert.ok(isCount && isTime, JSON.stringify({ policy: policy.name, allowed, remaining, retryAfterMs, resetAfterMs }))
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
