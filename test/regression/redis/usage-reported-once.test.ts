import { once } from 'node:events'
import { describe, expect, test } from '@jest/globals'
import { type Backend, createLimiter, type ScriptRunner } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { createRedis, leasedBackend, redisBackend, scriptRunner, syncedBackend } from '@sluice/redis'
import { numberOfRuns, until } from '@sluice/testkit'
import { algorithmNames } from '../../algorithms/any-policy.ts'
import { chargedOf } from '../../redis/known/member.ts'
import { forTests } from '../../services/for-tests.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisForTests()
const client = forTests(
  async () => {
    const client = createRedis(redis.server.url)
    await once(client, 'ready')
    return client
  },
  (client) => client.disconnect(),
)

type Listener = Parameters<NonNullable<ScriptRunner['interrupted']>>[0]

/**
 * A runner of a cluster that learns late that slots have moved: after a redirection, it still reports the old server.
 */
class RenamingRunner implements ScriptRunner {
  #name = 'first'
  readonly #runner = scriptRunner(client.current)
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

/** `npm test` takes two of them. */
const ALGORITHMS = algorithmNames.slice(0, numberOfRuns(algorithmNames.length))

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
    expect(await chargedOf(client.current, options, 'key')).toBe(28)
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
      expect(await chargedOf(client.current, options, 'key')).toBe(28)
    },
  )
})
