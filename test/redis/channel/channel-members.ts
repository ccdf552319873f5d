import type { Observer, ScriptRunner } from '@sluice/limiter-core'
import { type RedisChannel, type RedisChannelOptions, redisChannel, scriptRunner } from '@sluice/redis'
import { FakeClock, seededRandom } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { endedAfterEach } from '../../services/for-tests.ts'
import { LossyRunner } from './lossy-runner.ts'
import { ticking } from './ticking.ts'

/** Tick interval of the channels. Their clock only moves when a test advances it. */
export const tickMs = 100

type MakeMember = (prefix: string, options?: RedisChannelOptions, through?: ScriptRunner) => ChannelMember

interface ChannelMember {
  readonly channel: RedisChannel
  readonly clock: FakeClock
  /** Events reported to observers. */
  readonly told: unknown[]
  /** Messages received since `listen`, as text. */
  readonly heard: string[]
  listen(topic?: string): () => void
  say(text: string, topic?: string): void
  /** Ticks once, and again to process the answers. */
  exchange(): Promise<void>
  tick(holds: () => boolean, what: string): Promise<void>
}

/** Creates channels of processes whose clock the test controls. They are closed after each test. */
export function channelMembers(redis: { readonly client: Redis }): MakeMember {
  const made = endedAfterEach<RedisChannel>((channel) => channel.close())
  return (prefix, options = {}, through = scriptRunner(redis.client)) => {
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
