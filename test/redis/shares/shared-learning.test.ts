import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createInflightLimiter } from '@sluice/limiter-core'
import { type AdaptiveOptions, adaptive } from '@sluice/overload'
import { eachSeed, FakeClock, type SeededRandom, Warnings, WorkerModel } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { ShareFleet } from './share-fleet.ts'

const [WORKERS, WORK_MS, STEP_MS] = [40, 50, 10]
/** Twice as much as the workers can do. */
const PER_SECOND = (2 * WORKERS * 1_000) / WORK_MS

// processes are cut off here
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

/** What a service with a cap in front of it did. */
interface Run {
  asked: number
  done: number
  most: number
  readonly limits: number[]
}

/** Number of requests of a Poisson process. */
function arrivals(random: SeededRandom, mean: number): number {
  let count = 0
  for (let left = random.next(); left > Math.exp(-mean); left *= random.next()) count++
  return count
}

const workMs = (random: SeededRandom): number => WORK_MS * (0.8 + 0.4 * random.next())

/** A service behind the caps of a fleet. */
class Scene {
  readonly fleet: ShareFleet
  readonly run: Run = { asked: 0, done: 0, most: 0, limits: [] }
  readonly #random: SeededRandom
  readonly #service: WorkerModel

  constructor(random: SeededRandom, options: AdaptiveOptions, processes: number, areServers = false) {
    this.#random = random
    this.fleet = new ShareFleet(client, options, areServers)
    this.#service = new WorkerModel(WORKERS, this.fleet.time)
    for (let joined = 0; joined < processes; joined++) this.fleet.join()
  }

  async play(seconds: number, perSecond: number = PER_SECOND): Promise<Run> {
    let step = 0
    await this.fleet.pass(seconds * 1_000, STEP_MS, async () => {
      for (const member of this.fleet.running) {
        const mean = (perSecond * STEP_MS) / 1_000 / this.fleet.running.length
        for (let left = arrivals(this.#random, mean); left > 0; left--) {
          this.run.asked++
          void this.fleet.request(member, (done) => this.#serve(done))
        }
      }
      // what is admitted begins now, not in the next step
      await this.fleet.quiet()
      this.run.most = Math.max(this.run.most, this.fleet.held)
      if (step++ % 10 === 0) this.run.limits.push((await this.fleet.limit())?.limit ?? 0)
    })
    return this.run
  }

  #serve(done: () => void): void {
    this.#service.serve(workMs(this.#random), () => {
      done()
      this.run.done++
    })
  }
}

function playAlone(random: SeededRandom, options: AdaptiveOptions, seconds: number, perSecond = PER_SECOND): Run {
  const clock = new FakeClock()
  const service = new WorkerModel(WORKERS, clock)
  const cap = createInflightLimiter({ limit: adaptive(options), clock })
  const run: Run = { asked: 0, done: 0, most: 0, limits: [] }
  for (let ms = 0; ms < seconds * 1_000; ms += STEP_MS) {
    for (let left = arrivals(random, (perSecond * STEP_MS) / 1_000); left > 0; left--) {
      run.asked++
      const permit = cap.acquire()
      if (!permit) continue
      run.most = Math.max(run.most, cap.count())
      service.serve(workMs(random), () => {
        permit.release()
        run.done++
      })
    }
    clock.advance(STEP_MS)
    run.limits.push(cap.limit)
  }
  return run
}

describe('eight processes in front of a service with 40 workers', () => {
  test.each<[string, AdaptiveOptions, number]>([
    ['a limit of at most 40', { max: WORKERS }, WORKERS],
    ['any limit', {}, 2 * WORKERS],
  ])('complete at least 90 %% of what one process does with %s, and stay within it', (_, options, most) =>
    eachSeed(2, async (random, seed) => {
      const alone = playAlone(random, options, 15)
      const scene = new Scene(random, options, 8)
      const fleet = await scene.play(15)
      process.stdout.write(
        `seed ${seed}: ${fleet.done} completed by the fleet, ${alone.done} by one process, limit ${fleet.limits.at(-1)} and ${alone.limits.at(-1)}, ${scene.fleet.calls / 15} calls per second\n`,
      )
      expect(fleet.done / alone.done).toBeGreaterThanOrEqual(0.9)
      expect(fleet.most).toBeLessThanOrEqual(most)
      // so long that the limit of a new cap no longer grows
      expect(Math.max(...fleet.limits.slice(50))).toBeLessThanOrEqual(1.6 * WORKERS)
      await scene.fleet.close()
    }),
  )

  test.each([1.5, 0.75])('are servers that complete at least 90 %% of what one does at %f times its capacity', (load) =>
    eachSeed(2, async (random, seed) => {
      const options = { max: WORKERS, initial: WORKERS }
      const perSecond = (load * WORKERS * 1_000) / WORK_MS
      const alone = playAlone(random, options, 8, perSecond)
      const scene = new Scene(random, options, 8, true)
      const fleet = await scene.play(8, perSecond)
      const parts = [fleet, alone].map(({ done, asked }) => done / asked)
      process.stdout.write(`seed ${seed}: ${parts} of the requests completed by the fleet, and by one process\n`)
      expect(parts[0] / parts[1]).toBeGreaterThanOrEqual(0.9)
      expect(fleet.most).toBeLessThanOrEqual(WORKERS)
      await scene.fleet.close()
    }),
  )

  test('go on with the limit when the process that learns it dies', () =>
    eachSeed(2, async (random) => {
      const scene = new Scene(random, { min: 2 }, 8)
      await scene.play(8)
      const [first, ...others] = scene.fleet.running
      const { limits } = scene.run
      const seen = limits.length
      // of the last second: it may be lowered for a moment to measure, and the limit before a dip goes on
      const before = Math.max(...limits.slice(-10))
      scene.fleet.kill(first)
      await scene.play(6)
      const after = limits.slice(seen)
      expect(others.every(({ isDead }) => !isDead)).toBe(true)
      // also learned again: the limit has changed since
      expect(new Set(after).size).toBeGreaterThan(1)
      expect(Math.max(...after)).toBeLessThanOrEqual(1.2 * before)
      await scene.fleet.close()
    }))

  test('do not stay at a limit that was lowered to measure while a process is cut off', () =>
    eachSeed(3, async (random) => {
      const scene = new Scene(random, { max: WORKERS }, 8)
      await scene.play(6)
      const { limits } = scene.run
      const seen = limits.length
      const [first, second] = scene.fleet.running
      first.fate = 'refused'
      second.fate = 'refused'
      await scene.play(6)
      let longest = 0
      let low = 0
      for (const limit of limits.slice(seen)) {
        low = limit < 0.75 * WORKERS ? low + 1 : 0
        longest = Math.max(longest, low)
      }
      // samples of 100 ms
      expect(longest).toBeLessThanOrEqual(20)
      first.fate = undefined
      second.fate = undefined
      await scene.fleet.close()
    }))

  test('give a process that has all requests nearly all places, within three seconds', () =>
    eachSeed(2, async (random) => {
      const scene = new Scene(random, { max: WORKERS, initial: WORKERS }, 8)
      await scene.play(3)
      const [busy] = scene.fleet.running
      let held = 0
      await scene.fleet.pass(3_000, STEP_MS, async () => {
        for (let request = 0; request < 10; request++) void scene.fleet.hold(busy, WORK_MS)
        held = Math.max(held, busy.permits.size)
      })
      // the others keep a place each, and the limit is sometimes lowered
      expect(held).toBeGreaterThanOrEqual(WORKERS - 10)
      await scene.fleet.close()
    }))
})
