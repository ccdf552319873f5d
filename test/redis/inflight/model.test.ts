import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type InflightBackend, isPromise, type MaybePromise, type Permit } from '@sluice/limiter-core/backend'
import { scriptRunner } from '@sluice/redis'
import { eachSeed, FakeClock, type SeededRandom, Warnings } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { type Fate, FaultyRunner } from './faulty-runner.ts'
import { Fleet } from './fleet.ts'
import { ProcessClock } from './process-clock.ts'

const LIMIT = 5
const LEASE_MS = 9_000
const DEADLINE_MS = 50
const STEP_MS = 40
const KEYS = ['a', 'b']
const CAP = { name: 'model', limit: LIMIT }
// a thousand outages are expected here
const warnings = new Warnings()

interface Member {
  readonly backend: InflightBackend
  readonly clock: ProcessClock
  readonly runner: FaultyRunner
  readonly held: { readonly key: string; readonly weight: number; readonly permit: Permit }[]
  /** Time in milliseconds at which it was killed. */
  killedAt?: number
}

let server: RedisServer
let client: Redis
let fleet: Fleet
let made = 0

beforeAll(async () => {
  warnings.listen()
  server = await startRedis()
  fleet = new Fleet(server.port)
  client = await fleet.client()
})

afterAll(async () => {
  await fleet.close()
  await server.stop()
  warnings.stop()
})

describe('any sequence of acquires, releases, crashes and stalls', () => {
  test('keeps the limit at every instant, and releases every permit', () =>
    eachSeed(25, async (random) => {
      const scene = new Scene(random, undefined)
      for (let step = 0; step < 80; step++) {
        await scene.step({ crashes: true })
        scene.assertLimit()
      }
      await scene.assertEnd()
    }))
})

describe('any sequence with lost requests and replies', () => {
  test('is correct again within a third of a lease after the last loss', () =>
    eachSeed(25, async (random) => {
      const faults: { now: readonly Fate[] } = { now: ['well'] }
      const scene = new Scene(random, () => random.pick(faults.now))
      for (let round = 0; round < 4; round++) {
        faults.now = random.pick([
          ['well', 'well', 'well', 'reply lost', 'request lost'],
          ['well', 'cut', 'refused'],
          ['reply lost', 'cut', 'refused'],
        ])
        for (let step = 0; step < 20; step++) await scene.step({ crashes: false })
        faults.now = ['well']
        await scene.reconnect()
        await scene.pass(LEASE_MS / 3 + DEADLINE_MS)
        await scene.assertCounted()
      }
      await scene.assertEnd()
    }))
})

/** Several simulated processes on one Redis with a shared clock. */
class Scene {
  readonly #time = new FakeClock({ nowMs: 1_000_000 })
  readonly #random: SeededRandom
  readonly #members: Member[]
  readonly #isLossy: boolean

  constructor(random: SeededRandom, fate: (() => Fate) | undefined) {
    this.#random = random
    this.#isLossy = fate !== undefined
    const prefix = `model-${made++}`
    this.#members = [1, 2, 3].map(() => {
      const clock = new ProcessClock(this.#time)
      const runner = new FaultyRunner(scriptRunner(client), fate ?? (() => 'well'))
      const serverTime = (): number => this.#time.now()
      const options = { clock, serverTime, prefix, leaseMs: LEASE_MS, deadlineMs: DEADLINE_MS }
      return { backend: fleet.backend(runner, options), clock, runner, held: [] }
    })
  }

  async step({ crashes }: { crashes: boolean }): Promise<void> {
    const member = this.#random.pick(this.#awake)
    const deed = this.#random.whole(20)
    if (deed < 9) await this.#acquire(member)
    else if (deed < 15) await this.#release(member)
    else if (deed < 17 || !crashes) await this.pass(this.#random.whole(LEASE_MS / 2))
    else if (deed === 17 && this.#awake.length > 1) member.clock.stop()
    else if (deed === 18 && this.#awake.length > 1) this.#kill(member)
    else await this.#wakeOne()
  }

  /** A process without permits detects that the server answers by a probe and a trial call. */
  async reconnect(): Promise<void> {
    // waits until the last lost call has timed out, with no calls meanwhile
    await this.pass(DEADLINE_MS)
    for (const { runner, backend } of this.#members) {
      runner.tell('back')
      await this.#quiet()
      for (let asked = 0; asked < 2; asked++) {
        await backend.count?.('other', CAP)
        await this.#quiet()
      }
    }
  }

  /** Advances the clock in steps that give calls the time to be answered within their deadline. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.#time.advance(Math.min(left, STEP_MS))
      await this.#quiet()
    }
  }

  /** Checks running processes only: the permits of a stalled process are lost when it resumes. */
  assertLimit(): void {
    for (const key of KEYS) {
      expect(this.#awake.reduce((sum, member) => sum + placesOf(member, key), 0)).toBeLessThanOrEqual(LIMIT)
    }
  }

  /** Checks that the server counts the permits that the processes hold. */
  async assertCounted(): Promise<void> {
    for (const key of KEYS) {
      const held = this.#members.reduce((sum, member) => sum + placesOf(member, key), 0)
      for (const { backend } of this.#awake) expect(await backend.count?.(key, CAP)).toBe(held)
    }
  }

  async assertEnd(): Promise<void> {
    for (const member of this.#sleeping) await this.#wake(member)
    for (const member of this.#members) {
      if (member.killedAt === undefined) for (const { permit } of member.held.splice(0)) permit.release()
    }
    await this.pass(LEASE_MS + DEADLINE_MS)
    const [{ backend }] = this.#awake
    for (const key of KEYS) expect(await backend.count?.(key, CAP)).toBe(0)
    for (const { backend: one } of this.#members) await one.close?.()
  }

  get #awake(): Member[] {
    return this.#members.filter((member) => member.killedAt === undefined && !member.clock.stopped)
  }

  get #sleeping(): Member[] {
    return this.#members.filter((member) => member.killedAt === undefined && member.clock.stopped)
  }

  async #acquire(member: Member): Promise<void> {
    const key = this.#random.pick(KEYS)
    const weight = 1 + this.#random.whole(2)
    const held = this.#members.reduce((sum, one) => sum + placesOf(one, key), 0)
    const answer = await this.#settled(member.backend.acquire(key, { weight, cap: CAP }))
    if (this.#isExact) expect('release' in answer).toBe(held + weight <= LIMIT)
    if ('release' in answer) member.held.push({ key, weight, permit: answer })
  }

  /** Whether the server should have exactly the permits that the processes hold. */
  get #isExact(): boolean {
    return !this.#isLossy && this.#awake.length === this.#members.length
  }

  async #release({ held }: Member): Promise<void> {
    if (held.length === 0) return
    held.splice(this.#random.whole(held.length), 1)[0].permit.release()
    await this.#quiet()
  }

  /** A killed process sends nothing more, and its permits expire. */
  #kill(member: Member): void {
    member.clock.stop()
    member.killedAt = this.#time.now()
  }

  async #wakeOne(): Promise<void> {
    const [first] = this.#sleeping
    if (first) await this.#wake(first)
  }

  async #wake({ clock }: Member): Promise<void> {
    clock.wake()
    await this.#quiet()
  }

  async #settled<T>(answer: MaybePromise<T>): Promise<T> {
    if (!isPromise(answer)) return answer
    let settled = false
    answer.then(() => {
      settled = true
    })
    await this.#quiet()
    // a process whose call was lost waits for its deadline
    while (!settled) await this.pass(DEADLINE_MS)
    return answer
  }

  async #quiet(): Promise<void> {
    for (let calm = 0; calm < 3; ) {
      await new Promise((resolve) => setImmediate(resolve))
      calm = this.#members.some(({ runner }) => runner.underWay > 0) ? 0 : calm + 1
    }
  }
}

function placesOf({ held }: Member, key: string): number {
  return held.reduce((sum, one) => sum + (one.key === key && !one.permit.lost.aborted ? one.weight : 0), 0)
}
