import { expect, test } from '@jest/globals'
import { redisChannel, scriptRunner } from '@sluice/redis'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { LossyRunner } from './lossy-runner.ts'
import { ownRedis } from './own-redis.ts'
import { ticking, turn } from './ticking.ts'

const redis = ownRedis()
const TICK_MS = 300
const MEMBERS = 4

/** Members that publish and receive numbered messages, each under its own index. */
function members(runner: LossyRunner, clock: FakeClock, prefix: string) {
  return Array.from({ length: MEMBERS }, (_, index) => {
    const channel = redisChannel(runner, { prefix, tickMs: TICK_MS, clock })
    const received: string[][] = Array.from({ length: MEMBERS }, () => [])
    const published: string[] = []
    channel.subscribe('news', (bytes) => {
      const text = Buffer.from(bytes).toString()
      received[Number(text.split(' ')[0])].push(text)
    })
    const publish = (size: number): void => {
      const text = `${index} ${published.length} ${'x'.repeat(size)}`
      published.push(text)
      channel.publish('news', Buffer.from(text))
    }
    return { channel, index, received, published, publish }
  })
}

async function run(random: SeededRandom): Promise<Record<string, number>> {
  const clock = new FakeClock()
  const runner = new LossyRunner(scriptRunner(redis.client), random)
  const all = members(runner, clock, redis.prefix())
  for (let step = 0; step < 60; step++) {
    for (let count = random.whole(4); count > 0; count--)
      random.pick(all)?.publish(random.whole(10) === 0 ? 150_000 : 20)
    clock.advance(random.whole(2 * TICK_MS))
    await turn()
    await runner.arrive()
  }
  runner.calm = true
  await runner.arrive()
  const counted = (): number => all.flatMap(({ received }) => received).flat().length
  const expected = (MEMBERS - 1) * all.flatMap(({ published }) => published).length
  await ticking({ clock, tickMs: TICK_MS, runner }, () => counted() >= expected, 'all messages')
  for (const { index, received } of all) {
    expect(received).toEqual(all.map(({ published }, of) => (of === index ? [] : published)))
  }
  await Promise.all(all.map(({ channel }) => channel.close()))
  return runner.struck
}

test('every member receives the messages of the others once and in order, and none of its own, despite loss, delay and duplication', async () => {
  await eachSeed(10, async (random) => {
    const struck = await run(random)
    expect(Object.keys(struck).length).toBe(6)
  })
})
