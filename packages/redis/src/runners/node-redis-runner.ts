import {
  afterThisTurn,
  type Interruption,
  type Script,
  type ScriptRunner,
  systemClock,
} from '@sluice/limiter-core/backend'
import { firstOf } from '../client/first-event.ts'
import { failureOf, RedisFailure } from '../client/redis-failure.ts'
import { evaluated } from './evaluated.ts'
import {
  isNodeRedisCluster,
  isNodeRedisConnection,
  type NodeRedisClient,
  type NodeRedisConnection,
} from './node-redis-client.ts'
import { NodeRedisClusterRunner } from './node-redis-cluster-runner.ts'
import { sentCommands } from './node-redis-commands.ts'
import { notConnectedFailure, silentFailure } from './node-redis-failures.ts'
import { PendingCalls } from './pending-calls.ts'
import { silenceLimitMs } from './silence-limit.ts'

/** Returns a runner for a client of node-redis 5 or 6. */
export function nodeRedisRunner(client: NodeRedisClient): ScriptRunner {
  if (isNodeRedisConnection(client)) return new NodeRedisRunner(client)
  if (isNodeRedisCluster(client)) return new NodeRedisClusterRunner(client)
  // without a listener, node-redis ends the process when a connection is lost
  client.on('error', () => {})
  return {
    run: (script, keys, args) =>
      client.isOpen ? evaluated(client, script, keys, args) : Promise.reject(notConnectedFailure()),
    sendCommands: (commands) => (client.isOpen ? sentCommands(client, commands) : undefined),
  }
}

/** Time in ms between two checks of a first connection. */
const FIRST_CHECK_MS = 20

/**
 * Runs scripts over a single connection or a sentinel. Calls wait for the first connection. At any other time a call is
 * rejected with `CONNECTION` while the connection is not ready, so that node-redis never queues it.
 */
class NodeRedisRunner implements ScriptRunner {
  readonly #client: NodeRedisConnection
  readonly #listeners = new Set<(event: Interruption) => void>()
  readonly #pending: PendingCalls
  #first: Promise<void> | undefined
  #wasTried = false
  #failure: RedisFailure | undefined

  constructor(client: NodeRedisConnection) {
    this.#client = client
    this.#pending = new PendingCalls(silenceLimitMs(client))
    // without a listener, node-redis ends the process when a connection is lost
    client.on('error', (error: unknown) => {
      this.#failure = failureOf(error)
    })
    client.on('ready', () => this.#back())
    for (const event of ['reconnecting', 'end', 'terminated']) client.on(event, () => this.#lost())
    if (client.isReady) this.#wasTried = true
  }

  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const client = this.#client
    // a client that is being closed is ready until the replies of earlier calls have arrived, but sends nothing more
    if (!client.isOpen) return Promise.reject(notConnectedFailure())
    if (this.#pending.isSilent) return Promise.reject(silentFailure())
    if (client.isReady) return this.#pending.add(evaluated(client, script, keys, args))
    if (this.#wasTried) return Promise.reject(this.#notReady())
    this.#first ??= this.#firstAttempt()
    return this.#first.then(() => this.run(script, keys, args))
  }

  sendCommands(commands: readonly (readonly string[])[]): Promise<readonly unknown[]> | undefined {
    if (this.#pending.isSilent || !this.#client.isReady) return undefined
    const sent = sentCommands(this.#client, commands)
    return sent && this.#pending.add(sent)
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    // a wrapper, because the same function may be registered twice and unsubscribed once
    const entry = (event: Interruption): void => listener(event)
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  async #firstAttempt(): Promise<void> {
    await Promise.race([firstOf(this.#client, ['ready', 'error', 'end']), this.#readiness()])
    this.#wasTried = true
  }

  /** A sentinel of node-redis 5 has no events for its first connection. */
  #readiness(): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.#wasTried || this.#client.isReady || !this.#client.isOpen) resolve()
        else systemClock.after(FIRST_CHECK_MS, check)
      }
      check()
    })
  }

  #back(): void {
    this.#wasTried = true
    this.#failure = undefined
    for (const listener of this.#listeners) listener('back')
  }

  #lost(): void {
    // a client that closes after the last reply reports its end before the promise of the reply is settled
    afterThisTurn(() => this.#pending.break())
    for (const listener of this.#listeners) listener('lost')
  }

  #notReady(): RedisFailure {
    const { code, message } = this.#failure ?? { code: 'CONNECTION', message: '' }
    return new RedisFailure(code, ['the connection to Redis is not ready', message].filter(Boolean).join(': '))
  }
}
