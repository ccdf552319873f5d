import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type AlgorithmName, type Backend, createLimiter, type ScriptRunner } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { createRedis, leasedBackend, redisBackend, scriptRunner, syncedBackend } from '@sluice/redis'
import { numberOfRuns, until } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { chargedOf } from '../../redis/known/member.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = createRedis(server.url)
  await once(client, 'ready')
})

afterAll(async () => {
  client.disconnect()
  await server.stop()
})

type Listener = Parameters<NonNullable<ScriptRunner['interrupted']>>[0]

/**
 * A runner of a cluster that learns late that slots have moved: after a redirection, it still reports the old server.
 */
class RenamingRunner implements ScriptRunner {
  #name = 'first'
  readonly #runner = scriptRunner(client)
  readonly #listeners = new Set<Listener>()

  run(...call: Parameters<ScriptRunner['run']>): Promise<unknown> {
    return this.#runner.run(...call)
  }

  serverOf(): string {
    return this.#name
  }

  interrupted(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Reports from now on that the slots belong to another server. */
  rename(name: string): void {
    for (const listener of this.#listeners) listener('lost', this.#name)
    this.#name = name
    for (const listener of this.#listeners) listener('back', name)
  }
}

async function later(): Promise<void> {
  const at = systemClock.now() + 150
  await until(() => systemClock.now() > at)
}

const everyAlgorithm: readonly AlgorithmName[] = [
  'sliding-window',
  'gcra',
  'fixed-window',
  'sliding-log',
  'token-bucket',
]
/** `npm test` takes two of them. */
const ALGORITHMS = everyAlgorithm.slice(0, numberOfRuns(everyAlgorithm.length))

test.each(ALGORITHMS)(
  'with %s, counts of a server that include reported usage are not added to it again',
  async (algorithm) => {
    const policy = { name: 'year', limit: 100, window: '365d', algorithm } as const
    const options = { scope: `renamed-${algorithm}`, policy }
    const runner = new RenamingRunner()
    const backend = redisBackend(runner)
    const limiter = createLimiter({ policies: [policy], backend, scope: options.scope, deadlineMs: 5_000 })
    await limiter.take('key', 10)
    for (const name of ['second', 'third', 'fourth']) {
      await later()
      runner.rename(name)
      await limiter.take('key', 0)
      await later()
      await limiter.take('key', 6)
    }
    expect(await chargedOf(client, options, 'key')).toBe(28)
    limiter.close()
    backend.close?.()
  },
)

const BACKENDS = {
  redisBackend: (runner: ScriptRunner): Backend => redisBackend(runner),
  leasedBackend: (runner: ScriptRunner): Backend => leasedBackend(runner),
  syncedBackend: (runner: ScriptRunner): Backend => syncedBackend(runner, { tickMs: 100, gapMs: 20, nodes: 1 }),
}

describe.each(['redisBackend', 'leasedBackend', 'syncedBackend'] as const)('%s', (kind) => {
  const algorithms = ALGORITHMS.filter((one) => kind === 'redisBackend' || one !== 'sliding-log')
  test.each(algorithms)(
    'with %s, units counted in the call that reports earlier usage are counted once',
    async (algorithm) => {
      const policy = {
        name: 'year',
        limit: kind === 'leasedBackend' ? 10_000 : 100,
        window: '365d',
        algorithm,
      } as const
      const options = { scope: `at-once-${algorithm}-${kind}`, policy }
      const runner = new RenamingRunner()
      const backend = BACKENDS[kind](runner)
      const limiter = createLimiter({ policies: [policy], backend, scope: options.scope, deadlineMs: 5_000 })
      await limiter.take('key', 10)
      for (const name of ['second', 'third', 'fourth']) {
        await later()
        runner.rename(name)
        await limiter.take('key', 6)
      }
      limiter.close()
      await backend.close?.()
      expect(await chargedOf(client, options, 'key')).toBe(28)
    },
  )
})
