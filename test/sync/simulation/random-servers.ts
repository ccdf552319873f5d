import { PARTITIONS, partitionOf } from '@sluice/fleet/backend'
import { SyncingBackend, type SyncOptions, syncTermsOf } from '@sluice/fleet/sync'
import { createLimiter, type Decision, type Limiter, limitOverrides } from '@sluice/limiter-core'
import { FakeClock, NodeClock, openedCounter, type SeededRandom } from '@sluice/testkit'
import { afterThisTurn } from '../../../packages/limiter-core/src/time/clock.ts'
import { BAD_STATES, BadServers } from './bad-servers.ts'

const KEYS = 24
const STEPS = 150
const LIMIT = 300

/** Randomly drawn options of a run. */
interface Life {
  readonly rule: 'local' | 'allow' | 'deny'
  readonly sync: SyncOptions
  readonly processes: number
  readonly servers: number
  readonly resets: boolean
  readonly shadow: boolean
  readonly overrides: boolean
  readonly rates: readonly number[]
}

interface Process {
  readonly clock: NodeClock
  readonly backend: SyncingBackend
  readonly limiter: Limiter<Decision>
  isClosed: boolean
  counters: Map<string, number>
  closing?: Promise<void>
  sentAfterClose: number
}

/**
 * Simulates processes over servers that become silent, fail at once, lose answers and take over partitions from each
 * other, at random. Checks invariants of each decision, the state while one server is away, and the state after all
 * have recovered.
 */
export class RandomServers {
  readonly life: Life
  readonly wrongs = new Set<string>()
  readonly #random: SeededRandom
  readonly #clock = new FakeClock({ nowMs: 1_000_000 })
  readonly #servers: BadServers
  readonly #units = new Map<string, number>()
  readonly #refunded = new Map<string, number>()
  readonly #reset = new Set<string>()
  readonly #taken: { process: Process; key: string; decision: Decision; left: number }[] = []
  readonly #processes: Process[]
  readonly #pending: Promise<unknown>[] = []

  constructor(random: SeededRandom, given: Partial<Life> = {}) {
    this.#random = random
    const tickMs = random.pick([100, 500, 1_000])
    this.life = {
      rule: random.pick(['local', 'allow', 'deny'] as const),
      sync: {
        tickMs,
        gapMs: random.pick([1, 20, 50]),
        burst: random.pick([0.05, 0.25, 1]),
        floor: random.pick([0, 0, 2]),
        silentMs: random.pick([1_000, 3_000]),
        count: random.pick(['admitted', 'admitted', 'all'] as const),
        nodes: random.pick([1, 4, undefined]) as number,
      },
      processes: 1 + random.whole(3),
      servers: 1 + random.whole(3),
      resets: random.whole(4) === 0,
      shadow: random.whole(2) === 0,
      overrides: random.whole(3) === 0,
      rates: random.pick([[1], [1, 1.01, 0.99]]),
      ...given,
    }
    this.#servers = new BadServers(this.life.servers, this.#clock, random)
    this.#processes = Array.from({ length: this.life.processes }, (_, at) => this.#start(at))
  }

  async live(): Promise<readonly string[]> {
    for (let step = 0; step < STEPS; step++) await this.#step()
    for (const { clock } of this.#processes) clock.resume()
    await this.#silence()
    this.#servers.states.fill('well')
    await this.#pass(12_000, 20)
    await Promise.all(this.#pending)
    this.#checkHealed()
    for (const process of this.#processes) this.#close(process)
    await this.#pass(3_000, 20)
    await Promise.all(this.#processes.map(({ closing }) => closing))
    this.#checkLedger()
    await this.#pass(10_000, 100)
    for (const { clock, sentAfterClose } of this.#processes) {
      if (sentAfterClose > 0) this.#wrong(`sent ${sentAfterClose} times after close`)
      if (clock.pending !== 0) this.#wrong(`${clock.pending} timers after close`)
    }
    return [...this.wrongs]
  }

  #start(at: number): Process {
    const { rule, sync, shadow, overrides, rates } = this.life
    const clock = new NodeClock(this.#clock, rates[at % rates.length])
    let process: Process
    const ledger = this.#servers.join(clock, () => {
      if (process.isClosed) process.sentAfterClose++
    })
    const backend = new SyncingBackend({
      name: 'synced',
      ledger,
      terms: syncTermsOf('test', sync),
      rule: { source: rule },
      clock,
      random: () => this.#random.next(),
    })
    const limits = Object.fromEntries(Array.from({ length: 6 }, (_, key) => [`key ${key}`, 50 + 10 * key]))
    const main = { name: 'main', limit: LIMIT, window: '1h', algorithm: 'fixed-window', backend }
    const policies = [
      { ...main, ...(overrides && { overrides: limitOverrides({ limits }) }) },
      ...(shadow ? [{ ...main, name: 'shade', limit: 60, mode: 'shadow' }] : []),
    ]
    const limiter = createLimiter({ policies, clock, scope: 'default' } as never) as Limiter<Decision>
    process = { clock, backend, limiter, isClosed: false, counters: new Map(), sentAfterClose: 0 }
    return process
  }

  async #step(): Promise<void> {
    const random = this.#random
    const process = random.pick(this.#processes)
    const key = `key ${random.whole(KEYS)}`
    const drawn = random.whole(100)
    if (drawn < 60) for (let times = random.whole(6); times >= 0; times--) this.#take(process, key)
    else if (drawn < 66) this.#refund()
    else if (drawn < 68 && this.life.resets) this.#resetKey(process, key)
    else if (drawn < 74) this.#peek(process, key)
    else if (drawn < 80) this.#servers.states[random.whole(this.life.servers)] = random.pick(BAD_STATES)
    else if (drawn < 86) this.#servers.states[random.whole(this.life.servers)] = 'well'
    else if (drawn < 88) this.#servers.move()
    else if (drawn < 89) process.clock.stop()
    else if (drawn < 92) process.clock.resume()
    else if (drawn < 93) this.#metrics(process)
    if (random.whole(2) === 0) await this.#pass(random.pick([10, 100, 1_000, 4_000]), 10)
  }

  #attempt<T>(what: string, run: () => T): T | undefined {
    try {
      return run()
    } catch (error) {
      this.#wrong(`${what} threw ${error instanceof Error ? error.stack : error}`)
      return undefined
    }
  }

  #take(process: Process, key: string, cost = this.#random.pick([1, 1, 2, 7, 0])): void {
    if (process.clock.isStopped) return
    const decision = this.#attempt('take', () => process.limiter.take(key, cost))
    if (!decision) return
    this.#check(decision, cost)
    if (cost === 0) return
    if (decision.allowed) {
      this.#count(this.#units, key, cost)
      if (!this.life.shadow) this.#taken.push({ process, key, decision, left: cost })
    } else if (decision.source !== 'deny' && this.life.sync.count === 'all') this.#count(this.#units, key, cost)
  }

  #refund(): void {
    const taken = this.#random.pick(this.#taken)
    if (!taken || taken.left === 0 || taken.process.clock.isStopped) return
    const units = 1 + this.#random.whole(taken.left)
    taken.left -= units
    const decision = this.#attempt('charge', () => taken.process.limiter.charge(taken.key, -units, taken.decision))
    if (decision) this.#check(decision, 0)
    this.#count(this.#units, taken.key, -units)
    this.#count(this.#refunded, taken.key, units)
  }

  #peek(process: Process, key: string): void {
    if (process.clock.isStopped) return
    const decision = this.#attempt('peek', () => process.limiter.peek(key, 1))
    if (decision) this.#check(decision, 1)
  }

  #resetKey(process: Process, key: string): void {
    if (process.clock.isStopped) return
    this.#reset.add(key)
    this.#pending.push(Promise.resolve(process.limiter.reset(key)).catch((error) => this.#wrong(`reset ${error}`)))
  }

  #metrics(process: Process): void {
    const { counters } = process
    for (const { name, type, samples } of this.#attempt('metrics', () => [...process.backend.metrics()]) ?? []) {
      for (const { labels, value } of type === 'counter' ? samples : []) {
        const series = `${name} ${JSON.stringify(labels)}`
        if (!(Number(value) >= (counters.get(series) ?? 0))) this.#wrong(`${series} shrank`)
        counters.set(series, Number(value))
      }
    }
  }

  #close(process: Process): void {
    process.closing = process.backend.close().then(() => {
      process.isClosed = true
    })
  }

  #count(map: Map<string, number>, key: string, units: number): void {
    map.set(key, (map.get(key) ?? 0) + units)
  }

  #check(decision: Decision, cost: number): void {
    const { allowed, retryAfterMs, verdicts, source, counted } = decision
    if (!allowed && !(retryAfterMs > 0)) this.#wrong(`denied, and may retry after ${retryAfterMs} ms, ${source}`)
    if (allowed && retryAfterMs !== 0) this.#wrong(`allowed, and may retry after ${retryAfterMs} ms`)
    if (cost === 0 && !allowed && source !== 'deny') this.#wrong(`a take of 0 was denied by ${source}`)
    if (counted !== (source === 'synced')) this.#wrong(`counted ${counted} by ${source}`)
    for (const { remaining, resetAfterMs, policy } of verdicts) {
      if (source === 'allow') continue
      if (!(remaining >= 0 && remaining <= policy.limit) || !Number.isInteger(remaining))
        this.#wrong(`remaining ${remaining}`)
      if (!(resetAfterMs >= 0)) this.#wrong(`resetAfterMs ${resetAfterMs}`)
    }
  }

  /** Makes one server silent for long enough to be detected, while the others are healthy. */
  async #silence(): Promise<void> {
    const silent = this.#random.whole(this.life.servers)
    this.#servers.states.fill('well')
    this.#servers.states[silent] = this.#random.pick(BAD_STATES)
    if (this.#random.whole(2) === 0) await this.#pass(5_000, 20)
    const keys = Array.from({ length: KEYS }, (_, key) => `key ${key}`)
    const { silentMs, tickMs } = this.life.sync as { silentMs: number; tickMs: number }
    for (let ms = 0; ms < silentMs * 1.02 + 3 * tickMs + 500; ms += 100) {
      for (const process of this.#processes) this.#take(process, this.#random.pick(keys), 1)
      if (ms % 300 === 0) for (const process of this.#processes) for (const key of keys) this.#take(process, key, 1)
      await this.#pass(100, 20)
    }
    for (const { limiter } of this.#processes) {
      for (const key of keys) {
        const { counted, source } = limiter.peek(key)
        const state = this.#servers.stateOf(partitionOf(key, PARTITIONS))
        if (counted !== (state === 'well')) this.#wrong(`answered by ${source} while its server is ${state}`)
      }
    }
  }

  #checkHealed(): void {
    for (const { limiter } of this.#processes) {
      for (let key = 0; key < KEYS; key++) {
        const { counted, source } = limiter.peek(`key ${key}`)
        if (!counted) this.#wrong(`healed, and key answered by ${source}`)
      }
    }
  }

  #checkLedger(): void {
    const { backend } = this.#processes[0]
    const counter = openedCounter(backend, 'default', {
      name: 'main',
      limit: LIMIT,
      windowMs: 3_600_000,
      algorithm: 'fixed-window',
    })
    const { floor = 10 } = this.life.sync
    for (const [key, units] of this.#units) {
      if (this.#reset.has(key)) continue
      const takes = [{ key, counter, takes: [] }]
      const [cells] = this.#servers.ledger.exchange('reader', { partition: 0, number: 0, takes }).cells as [
        readonly number[],
      ]
      const kept = floor * this.#processes.length
      const most = units + (this.#refunded.get(key) ?? 0)
      if (cells[1] > most || cells[1] < units - kept)
        this.#wrong(`${key}: ${cells[1]} in the ledger, ${units} admitted, ${this.#refunded.get(key) ?? 0} refunded`)
    }
  }

  async #pass(ms: number, stepMs: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.#clock.advance(stepMs)
      await new Promise<void>((resolve) => afterThisTurn(resolve))
    }
  }

  #wrong(what: string): void {
    this.wrongs.add(what)
  }
}
