import type { Interruption, Script, ScriptRunner } from '@sluice/limiter-core/backend'
import { firstOf } from '../client/first-event.ts'
import { hashSlot } from '../client/hash-slot.ts'
import { brokenFailure, failureOf, RedisFailure } from '../client/redis-failure.ts'
import {
  isNodeRedisCluster,
  isNodeRedisConnection,
  type NodeRedisClient,
  type NodeRedisConnection,
} from './node-redis-client.ts'
import { isNoScript, shaOf } from './script-sha.ts'

type Reject = (failure: RedisFailure) => void

/** Returns a runner for a client of node-redis 5 or 6. */
export function nodeRedisRunner(client: NodeRedisClient): ScriptRunner {
  if (isNodeRedisConnection(client)) return new NodeRedisRunner(client)
  // without a listener, node-redis ends the process when a connection is lost
  client.on('error', () => {})
  const run: ScriptRunner['run'] = (script, keys, args) =>
    client.isOpen ? evaluated(client, script, keys, args) : Promise.reject(closedFailure())
  if (!isNodeRedisCluster(client)) return { run }
  const serverOf = (key: string): string => {
    const { host, port } = client.slots[hashSlot(key)]?.master ?? {}
    return host === undefined ? '' : `${host}:${port}`
  }
  return { clustered: true, serverOf, run }
}

/**
 * Runs scripts over a single connection or a sentinel. Calls wait for the first connection. At any other time a call is
 * rejected with `CONNECTION` while the connection is not ready, so that node-redis never queues it.
 */
class NodeRedisRunner implements ScriptRunner {
  readonly #client: NodeRedisConnection
  readonly #listeners = new Set<(event: Interruption) => void>()
  readonly #pending = new Set<Reject>()
  #first: Promise<void> | undefined
  #wasTried = false
  #failure: RedisFailure | undefined

  constructor(client: NodeRedisConnection) {
    this.#client = client
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
    if (client.isReady) return this.#sent(script, keys, args)
    if (!client.isOpen) return Promise.reject(closedFailure())
    if (this.#wasTried) return Promise.reject(this.#notReady())
    this.#first ??= this.#firstAttempt()
    return this.#first.then(() => this.run(script, keys, args))
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
    await firstOf(this.#client, ['ready', 'error', 'end'])
    this.#wasTried = true
  }

  #sent(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#pending.add(reject)
      evaluated(this.#client, script, keys, args).then(
        (reply) => {
          this.#pending.delete(reject)
          resolve(reply)
        },
        (error) => {
          this.#pending.delete(reject)
          reject(failureOf(error))
        },
      )
    })
  }

  #back(): void {
    this.#wasTried = true
    this.#failure = undefined
    for (const listener of this.#listeners) listener('back')
  }

  #lost(): void {
    for (const reject of this.#pending) reject(brokenFailure())
    this.#pending.clear()
    for (const listener of this.#listeners) listener('lost')
  }

  #notReady(): RedisFailure {
    const { code, message } = this.#failure ?? { code: 'CONNECTION', message: '' }
    return new RedisFailure(code, ['the connection to Redis is not ready', message].filter(Boolean).join(': '))
  }
}

function evaluated(
  client: NodeRedisClient,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const options = { keys: [...keys], arguments: args.map(String) }
  return client.evalSha(shaOf(script), options).catch((error) => {
    if (isNoScript(error)) return client.eval(script.text, options)
    throw error
  })
}

function closedFailure(): RedisFailure {
  return new RedisFailure('CONNECTION', 'the client of node-redis is not connected: call connect() first')
}
