import { expect, test } from '@jest/globals'
import { redisSums, scriptRunner } from '@sluice/redis'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { LossyRunner } from './lossy-runner.ts'
import { ownRedis } from './own-redis.ts'
import { ticking, turn } from './ticking.ts'

const redis = ownRedis()
const TICK_MS = 300

async function run(random: SeededRandom): Promise<Record<string, number>> {
  const clock = new FakeClock()
  const prefix = redis.prefix()
  const runner = new LossyRunner(scriptRunner(redis.client), random)
  const members = Array.from({ length: 4 }, () => redisSums(runner, { name: 'hits', prefix, tickMs: TICK_MS, clock }))
  const expected = new Map<string, number>()
  for (let step = 0; step < 80; step++) {
    for (let adds = random.whole(4); adds > 0; adds--) {
      const name = `cell ${random.whole(10)}`
      const amount = random.whole(2_000) - 500
      random.pick(members)?.add(name, amount)
      expected.set(name, (expected.get(name) ?? 0) + amount)
    }
    clock.advance(random.whole(2 * TICK_MS))
    await turn()
    await runner.arrive()
  }
  runner.calm = true
  await runner.arrive()
  const agrees = (): boolean =>
    members.every((member) => [...expected].every(([name, sum]) => member.get(name) === sum))
  await ticking({ clock, tickMs: TICK_MS, runner }, agrees, 'agreement')
  await Promise.all(members.map((member) => member.close()))
  const stored = await redis.client.hgetall(`${prefix}:{hits}:values`)
  expect(stored).toEqual(Object.fromEntries([...expected].map(([name, sum]) => [name, String(sum)])))
  return runner.struck
}

test('every participant ends with exactly the total of all additions, despite loss, delay and duplication', async () => {
  await eachSeed(20, async (random) => {
    const struck = await run(random)
    expect(Object.keys(struck).length).toBe(6)
  })
})
