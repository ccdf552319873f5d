import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eachSeed, type SeededRandom, Warnings } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { LEASE_MS, LONGEST_MS, type Member, ShareFleet } from './share-fleet.ts'

const [MIN, MAX] = [4, 24]
const [MEMBERS, STEPS, STEP_MS] = [8, 400, 20]
// outages are expected here
const warnings = new Warnings()

let server: RedisServer
let client: Redis

beforeAll(async () => {
  warnings.listen()
  server = await startRedis()
  client = server.client()
})

afterAll(async () => {
  await server.stop()
  warnings.stop()
})

test('processes that join, leave, crash and are cut off never hold more than the limit together, and recover', () =>
  eachSeed(12, async (random) => {
    const scene = new Scene(random)
    for (let step = 0; step < STEPS; step++) await scene.step()
    await scene.assertEnd()
  }))

class Scene {
  readonly #random: SeededRandom
  readonly #fleet = new ShareFleet(client, { min: MIN, max: MAX, initial: 12 })
  /** Requests in a step by process. */
  readonly #demand = new Map<Member, number>()
  #most = MAX
  /** End of the time in which Redis does not lose its data again and no process is cut off. */
  #steadyAt = 0
  /** End of the time in which some processes have not reported to a Redis that has lost its data. */
  #knownAt = 0

  constructor(random: SeededRandom) {
    this.#random = random
    for (let joined = 0; joined < 3; joined++) this.#join()
  }

  async step(): Promise<void> {
    await this.#change()
    for (const member of this.#fleet.running) {
      const demand = this.#demand.get(member) as number
      const count = Math.floor(demand + this.#random.next())
      for (let request = 0; request < count; request++) {
        void this.#fleet.hold(member, 1 + this.#random.next() * (LONGEST_MS - STEP_MS))
      }
    }
    await this.#fleet.quiet()
    await this.#assertLimit()
    await this.#fleet.pass(STEP_MS, STEP_MS)
    await this.#assertLimit()
  }

  async assertEnd(): Promise<void> {
    for (const member of this.#fleet.running) {
      member.fate = undefined
      member.runner.tell('back')
      this.#demand.set(member, 5)
    }
    await this.#fleet.pass(3 * LEASE_MS, STEP_MS, () => {
      for (const member of this.#fleet.running) void this.#fleet.hold(member, 1 + this.#random.whole(50))
    })
    for (const member of this.#fleet.running) {
      for (let request = 0; request < 2 * MAX; request++) void this.#fleet.hold(member, 50)
    }
    await this.#fleet.quiet()
    const { limit } = (await this.#fleet.limit()) as { limit: number }
    // a part of the limit is left to processes that crashed
    expect(this.#fleet.held).toBeGreaterThanOrEqual(limit / 3)
    await this.#assertLimit()
    await this.#fleet.pass(100, STEP_MS)
    await this.#fleet.close()
  }

  /** The limit before applies until all processes apply a lower one. */
  async #assertLimit(): Promise<void> {
    const { limit = MAX, isSettled = false } = (await this.#fleet.limit()) ?? {}
    this.#most = isSettled ? limit : Math.max(limit, this.#most)
    expect(this.#fleet.held).toBeLessThanOrEqual(this.#most)
  }

  async #change(): Promise<void> {
    const { running, time } = this.#fleet
    const one = this.#random.pick(running)
    const deed = this.#random.whole(60)
    const cut = running.filter(({ fate }) => fate !== undefined)
    const crashed = this.#fleet.members.filter(({ isDead, permits }) => isDead && permits.size > 0).length
    if (deed === 0 && running.length < MEMBERS && cut.length === 0 && time.now() > this.#knownAt) this.#join()
    else if (deed === 1 && running.length > 1 && one.permits.size === 0) await this.#fleet.leave(one)
    else if (deed === 2 && running.length > 3 && 2 * (cut.length + crashed + 1) < running.length) this.#fleet.kill(one)
    // a process that starts without Redis admits one place
    else if (
      deed <= 5 &&
      one.cap.limit > 0 &&
      2 * (cut.length + crashed + 1) < running.length &&
      time.now() > this.#steadyAt
    )
      one.fate = this.#random.pick(['refused', 'request lost', 'reply lost', 'cut'])
    else if (deed <= 8 && cut.length > 0) {
      const [first] = cut
      first.fate = undefined
      first.runner.tell('back')
    } else if (deed === 9 && running.every(isKnown) && time.now() > this.#steadyAt) {
      this.#steadyAt = time.now() + 2 * LEASE_MS
      this.#knownAt = time.now() + 1_000
      await this.#fleet.loseData()
    } else if (deed < 20) this.#demand.set(one, this.#random.pick([0, 0, 0.1, 1, 3]))
  }

  #join(): void {
    this.#demand.set(this.#fleet.join(), this.#random.pick([0.1, 1, 3]))
  }
}

/** Whether Redis has a record of a process. */
function isKnown({ cap, fate }: Member): boolean {
  return cap.limit > 0 && fate === undefined
}
