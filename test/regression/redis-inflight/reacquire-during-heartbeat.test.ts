import { expect, test } from '@jest/globals'
import { createInflightLimiter, type ScriptRunner } from '@sluice/limiter-core'
import { redisInflight, scriptRunner } from '@sluice/redis'
import { FakeClock, until } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const leaseMs = 9_000
// a heartbeat has at most four calls of 32 keys in flight, so the last key waits for a fifth
const MANY = 6 * 32

const redis = redisForTests()

/** A runner that withholds calls with many keys (heartbeats) until they are released. */
class HeldWay implements ScriptRunner {
  holds = false
  readonly held: (() => void)[] = []
  /** Number of answered calls with many keys. */
  renewals = 0
  readonly #way: ScriptRunner

  constructor(way: ScriptRunner) {
    this.#way = way
  }

  run: ScriptRunner['run'] = async (script, keys, args, options) => {
    if (this.holds && keys.length > 1) await new Promise<void>((resolve) => this.held.push(resolve))
    const reply = await this.#way.run(script, keys, args, options)
    if (keys.length > 1) this.renewals++
    return reply
  }
}

test('a permit that was released and acquired again during a heartbeat stays counted', async () => {
  const client = redis.server.client()
  await client.ping()
  const way = new HeldWay(scriptRunner(client))
  const clock = new FakeClock()
  const backend = redisInflight(way, { leaseMs, deadlineMs: 3_000, clock })
  const cap = createInflightLimiter({ name: 'cap', limit: 1, backend })
  const other = redisInflight(client, { leaseMs, deadlineMs: 3_000 })
  const others = createInflightLimiter({ name: 'cap', limit: 1, backend: other })
  const keys = Array.from({ length: MANY }, (_, index) => `key-${index}`)
  const last = keys[MANY - 1]
  const permits = await Promise.all(keys.map((key) => cap.acquire(key)))

  way.holds = true
  clock.advance(leaseMs / 3)
  await until(() => way.held.length === 4)
  permits[MANY - 1]?.release()
  await eventually(async () => (await others.count(last)) === 0, { what: 'the release' })
  expect(await cap.acquire(last)).toBeDefined()
  way.holds = false
  way.renewals = 0
  for (const go of way.held) go()
  await until(() => way.renewals === MANY / 32)
  expect(await others.acquire(last)).toBeUndefined()
  expect(await others.count(last)).toBe(1)
  await backend.close?.()
  await other.close?.()
})
