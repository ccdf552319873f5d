import { expect, test } from '@jest/globals'
import { redisChannel, scriptRunner } from '@sluice/redis'
import { CountMin, HyperLogLog, SketchSeed, SpaceSaving, TDigest } from '@sluice/sketches'
import { shareSketch } from '@sluice/sketches/fleet'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { LossyRunner } from './lossy-runner.ts'
import { ownRedis } from './own-redis.ts'
import { ticking, turn } from './ticking.ts'

const redis = ownRedis()
const TICK_MS = 300
const MEMBERS = 3
const seed = new SketchSeed('a secret of the fleet')

/** A process with a channel and one sketch of each kind. */
function member(runner: LossyRunner, clock: FakeClock, prefix: string) {
  const channel = redisChannel(runner, { prefix, tickMs: TICK_MS, clock })
  const options = { clock, tickMs: TICK_MS }
  const counts = shareSketch(channel, {
    topic: 'counts',
    make: () => new CountMin({ width: 256, depth: 4, seed }),
    read: (bytes) => CountMin.fromBytes(bytes, { seed }),
    ...options,
  })
  const uniques = shareSketch(channel, {
    topic: 'uniques',
    make: () => new HyperLogLog({ precision: 10, seed }),
    read: (bytes) => HyperLogLog.fromBytes(bytes, { seed }),
    ...options,
  })
  const talkers = shareSketch(channel, {
    topic: 'talkers',
    make: () => new SpaceSaving({ capacity: 50 }),
    read: (bytes) => SpaceSaving.fromBytes(bytes),
    ...options,
  })
  const waits = shareSketch(channel, {
    topic: 'waits',
    make: () => new TDigest(),
    read: (bytes) => TDigest.fromBytes(bytes),
    ...options,
  })
  const all = [counts, uniques, talkers, waits]
  return {
    counts,
    uniques,
    talkers,
    waits,
    meet(key: string, ms: number): void {
      counts.own.add(key)
      uniques.own.add(key)
      talkers.own.add(key)
      waits.own.add(ms)
    },
    flush: () => Promise.all(all.map((shared) => shared.flush())),
    async close(): Promise<void> {
      await Promise.all(all.map((shared) => shared.close()))
      await channel.close()
    },
  }
}

async function run(random: SeededRandom): Promise<void> {
  const clock = new FakeClock()
  const runner = new LossyRunner(scriptRunner(redis.client), random)
  const prefix = redis.prefix()
  const members = Array.from({ length: MEMBERS }, () => member(runner, clock, prefix))
  const exact = new CountMin({ width: 256, depth: 4, seed })
  const uniques = new HyperLogLog({ precision: 10, seed })
  let met = 0
  for (let step = 0; step < 40; step++) {
    for (let count = random.whole(40); count > 0; count--) {
      const key = `client ${random.whole(30)}`
      random.pick(members)?.meet(key, random.whole(1_000))
      exact.add(key)
      uniques.add(key)
      met++
    }
    clock.advance(random.whole(2 * TICK_MS))
    await turn()
    await runner.arrive()
  }
  runner.calm = true
  await runner.arrive()
  const whole = (): boolean =>
    members.every((one) => {
      const seen = one.uniques.fleet.count() === uniques.count()
      return seen && [one.counts.fleet.total, one.talkers.fleet.total, one.waits.fleet.count].every((n) => n === met)
    })
  await Promise.all(members.map((one) => one.flush()))
  await ticking({ clock, tickMs: TICK_MS, runner }, whole, 'all counts')
  for (const { counts, uniques: seen, talkers, waits } of members) {
    expect(counts.fleet.toBytes()).toEqual(exact.toBytes())
    expect(seen.fleet.toBytes()).toEqual(uniques.toBytes())
    expect(talkers.fleet.total).toBe(met)
    // fewer keys than cells, so that every count is exact
    for (const { key, count, error } of talkers.fleet.top(30))
      expect([count - error, error]).toEqual([exact.estimate(key), 0])
    expect(waits.fleet.count).toBe(met)
  }
  await Promise.all(members.map((one) => one.close()))
}

test('every sketch counts exactly once what all processes added, despite loss, delay and duplication', async () => {
  await eachSeed(6, run)
})
