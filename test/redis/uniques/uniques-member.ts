import type { Observer, ScriptRunner } from '@sluice/limiter-core'
import { scriptRunner } from '@sluice/redis'
import { type RedisUniques, type RedisUniquesOptions, redisUniques } from '@sluice/redis/uniques'
import { FakeClock, seededRandom } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { endedAfterEach } from '../../services/for-tests.ts'
import { LossyRunner } from '../channel/lossy-runner.ts'
import { ticking } from '../channel/ticking.ts'

const TICK_MS = 100

/** Creates processes that count uniques with a clock of their own. All are closed after each test. */
export function uniquesMembers(redis: { readonly client: Redis }) {
  const made = endedAfterEach<RedisUniques>((uniques) => uniques.close())
  return (prefix: string, options: Partial<RedisUniquesOptions> = {}, through?: ScriptRunner) => {
    const clock = new FakeClock()
    const runner = new LossyRunner(through ?? scriptRunner(redis.client), seededRandom(1))
    runner.calm = true
    const told: unknown[] = []
    const observer: Observer = { event: (name, data) => told.push({ name, ...data }) }
    const settings = { name: 'clients', prefix, tickMs: TICK_MS, clock, observers: [observer], ...options }
    const uniques = redisUniques(runner, settings)
    made.push(uniques)
    const exchange = (ticks = 2): Promise<void> => {
      let left = ticks
      return ticking({ clock, tickMs: TICK_MS, runner }, () => left-- === 0, `${ticks} ticks`)
    }
    return { uniques, clock, told, runner, exchange }
  }
}

/** Keys of a test, from the n-th on. */
export function names(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, n) => `client ${from + n}`)
}
