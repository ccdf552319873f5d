import { afterEach } from '@jest/globals'
import type { Observer, ScriptRunner } from '@sluice/limiter-core'
import { type RedisChannel, type RedisChannelOptions, redisChannel, runnerOf } from '@sluice/redis'
import { FakeClock, seededRandom } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { LossyRunner } from './lossy-runner.ts'
import { ticking } from './ticking.ts'

/** How often the channels of tests tick, by a clock that stands still until it is told to move. */
export const tickMs = 100

type MakeMember = (prefix: string, options?: RedisChannelOptions, through?: ScriptRunner) => ChannelMember

interface ChannelMember {
  readonly channel: RedisChannel
  readonly clock: FakeClock
  /** What observers heard. */
  readonly told: unknown[]
  /** What came since `listen`, as text. */
  readonly heard: string[]
  listen(topic?: string): () => void
  say(text: string, topic?: string): void
  /** Ticks once, and once more for what that brings. */
  exchange(): Promise<void>
  tick(holds: () => boolean, what: string): Promise<void>
}

/** Makes channels of processes whose time the test owns; they end with it. */
export function channelMembers(redis: { readonly client: Redis }): MakeMember {
  const made: RedisChannel[] = []
  afterEach(async () => {
    await Promise.all(made.splice(0).map((channel) => channel.close()))
  })
  return (prefix, options = {}, through = runnerOf(redis.client)) => {
    const clock = new FakeClock()
    const runner = new LossyRunner(through, seededRandom(1))
    runner.calm = true
    const told: unknown[] = []
    const observer: Observer = { event: (name, data) => told.push({ name, ...data }) }
    const channel = redisChannel(runner, { prefix, tickMs, clock, observers: [observer], ...options })
    made.push(channel)
    const heard: string[] = []
    const tick = (holds: () => boolean, what: string): Promise<void> => ticking({ clock, tickMs, runner }, holds, what)
    return {
      channel,
      clock,
      told,
      heard,
      tick,
      listen: (topic = 'news') => channel.subscribe(topic, (bytes) => heard.push(Buffer.from(bytes).toString())),
      say: (text, topic = 'news') => channel.publish(topic, Buffer.from(text)),
      async exchange() {
        let ticks = 0
        await tick(() => ticks++ === 2, 'two ticks')
      },
    }
  }
}
