import { type Interruption, type Script, type ScriptRunner, systemClock } from '@sluice/limiter-core/backend'
import { ConnectionWatch } from '../client/connection-watch.ts'
import { FirstConnects } from '../client/first-connects.ts'
import { hashSlot } from '../client/hash-slot.ts'
import {
  acceptsCommands,
  type IoRedisClient,
  isClosing,
  isCluster,
  type RedisClusterClient,
  type RedisConnection,
  type RedisNode,
} from '../client/redis-client.ts'
import { brokenFailure, failureOf, keyOnlyFailure, RedisFailure } from '../client/redis-failure.ts'
import { isNoScript, shaOf } from '../client/script-sha.ts'

/** A call that was sent and has no reply yet. */
interface Call {
  readonly connection: RedisConnection
  readonly reject: (failure: RedisFailure) => void
}

/** Minimum time between two refreshes of the slot table of a cluster. */
const REFRESH_EVERY_MS = 200

/**
 * Runs scripts with ioredis: by `EVALSHA`, and by `EVAL` if the server has not cached the script yet. Calls wait for
 * the first attempt to connect. At any other time a call whose connection is not ready is rejected with `CONNECTION`,
 * so that ioredis never queues it.
 *
 * While `interrupted` has listeners, pending calls are rejected when their connection breaks. ioredis alone may leave
 * them pending forever.
 *
 * ioredis sends a pending command again after a reconnect unless `autoResendUnfulfilledCommands` is false. The deadline
 * of a call limits the damage: a script that arrives later does nothing.
 */
export class ClientRunner implements ScriptRunner {
  readonly clustered: boolean
  readonly #client: IoRedisClient
  readonly #calls = new Set<Call>()
  readonly #contacts = new FirstConnects()
  readonly #listeners = new Set<(event: Interruption, server?: string) => void>()
  #watch: ConnectionWatch | undefined
  #refreshedAt: number = Number.NEGATIVE_INFINITY
  /** Why the last attempt to connect failed; undefined after a successful attempt. */
  #connectFailure: RedisFailure | undefined

  constructor(client: IoRedisClient) {
    this.#client = client
    this.clustered = isCluster(client)
    if (client.status === 'ready') this.#contacts.markConnected('')
  }

  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const connection = this.#connectionFor(keys[0])
    if (connection && acceptsCommands(connection)) return this.#send(connection, script, keys, args)
    const first = connection && this.#firstContact(connection, keys[0])
    if (first) return first.then(() => this.run(script, keys, args))
    // a cluster node with this status connects on its first command
    if (connection?.status === 'wait') return this.#send(connection, script, keys, args)
    if (isCluster(this.#client)) this.#refreshSlots(this.#client)
    return Promise.reject(this.#notReady(connection))
  }

  sendCommands(commands: readonly (readonly string[])[]): Promise<readonly unknown[]> | undefined {
    // ioredis puts its `keyPrefix` only before the keys of commands that its version knows
    if (this.#client.options?.keyPrefix) return undefined
    const connection = this.#connectionFor(commands[0][1])
    if (!connection?.pipeline || !acceptsCommands(connection)) return undefined
    const sent = connection.pipeline(commands.map((command) => ['call', ...command])).exec()
    return new Promise((resolve, reject) => {
      const call: Call = { connection, reject }
      this.#calls.add(call)
      sent.then((replies) => {
        this.#calls.delete(call)
        resolve((replies ?? []).map(([error, reply]) => error ?? reply))
      }, this.#failing(call))
    })
  }

  #firstContact(connection: RedisConnection, key: string): Promise<void> | undefined {
    // a client with `lazyConnect`
    if (connection === this.#client && connection.status === 'wait') connection.connect?.().catch(() => {})
    return this.#contacts.pending(connection === this.#client ? '' : this.serverOf(key), connection)
  }

  #send(
    connection: RedisConnection,
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const client = this.#client
      const sent = client.evalsha(shaOf(script), keys.length, ...keys, ...args)
      const call: Call = { connection, reject }
      this.#calls.add(call)
      const answered = (reply: unknown): void => {
        this.#calls.delete(call)
        resolve(reply)
      }
      const failed = this.#failing(call)
      sent.then(answered, (error) => {
        if (!isNoScript(error)) failed(error)
        else if (isClosing(connection)) failed(this.#notReady(connection))
        else client.eval(script.text, keys.length, ...keys, ...args).then(answered, failed)
      })
    })
  }

  #failing(call: Call): (error: unknown) => void {
    return (error) => {
      this.#calls.delete(call)
      call.reject(this.#scoped(failureOf(error)))
    }
  }

  serverOf(key: string): string {
    const client = this.#client
    if (!isCluster(client)) return ''
    // ioredis puts its `keyPrefix` before our key, and the prefix may contain a hash tag
    return client.slots[hashSlot(`${client.options.keyPrefix ?? ''}${key}`)]?.[0] ?? ''
  }

  interrupted(listener: (event: Interruption, server?: string) => void): () => void {
    // a wrapper, because the same function may be registered twice and unsubscribed once
    const entry = (event: Interruption, server?: string): void => listener(event, server)
    this.#listeners.add(entry)
    this.#watch ??= new ConnectionWatch(this.#client, {
      lost: (connection) => this.#lost(connection),
      back: (connection) => {
        this.#connectFailure = undefined
        this.#contacts.markConnected(this.#nameOf(connection) ?? '')
        this.#notify('back', connection)
      },
      failed: (error) => {
        this.#connectFailure = failureOf(error)
      },
    })
    return () => {
      this.#listeners.delete(entry)
      if (this.#listeners.size > 0) return
      this.#watch?.close()
      this.#watch = undefined
    }
  }

  #notReady(connection: RedisConnection | undefined): RedisFailure {
    const { code, message } = this.#connectFailure ?? { code: 'CONNECTION', message: '' }
    const state = connection
      ? `the connection to Redis is ${connection.status === 'ready' ? 'closing' : connection.status}`
      : 'no known node of the cluster serves the slot of the key'
    const why = code === 'CONNECTION' ? [state, message].filter(Boolean).join(': ') : message
    return this.#scoped(new RedisFailure(code, why))
  }

  /**
   * Marks a broken connection to one node of a working cluster as `keyOnly`, so that calls to the other nodes continue.
   */
  #scoped(failure: RedisFailure): RedisFailure {
    const isOneNode = this.clustered && this.#client.status === 'ready' && failure.code === 'CONNECTION'
    return isOneNode ? keyOnlyFailure(failure) : failure
  }

  /** ioredis looks for a new master only when a command fails, but no command is sent to a node that is not ready. */
  #refreshSlots(cluster: RedisClusterClient): void {
    const now = systemClock.now()
    if (cluster.status !== 'ready' || now < this.#refreshedAt + REFRESH_EVERY_MS) return
    this.#refreshedAt = now
    cluster.refreshSlotsCache()
  }

  #connectionFor(key: string): RedisConnection | undefined {
    const client = this.#client
    if (!isCluster(client) || client.status !== 'ready') return client
    const name = this.serverOf(key)
    return client.nodes('master').find(({ options }) => `${options.host}:${options.port}` === name)
  }

  #lost(connection: RedisConnection): void {
    for (const call of this.#calls) {
      if (call.connection !== connection) continue
      this.#calls.delete(call)
      call.reject(this.#scoped(brokenFailure()))
    }
    this.#notify('lost', connection)
  }

  #notify(event: Interruption, connection: RedisConnection): void {
    const server = this.#nameOf(connection)
    for (const listener of this.#listeners) listener(event, server)
  }

  /** Returns the name that `serverOf` uses for this connection; undefined for a cluster as a whole. */
  #nameOf(connection: RedisConnection): string | undefined {
    if (!this.clustered) return ''
    const { host, port } = (connection as Partial<RedisNode>).options ?? {}
    return connection === this.#client ? undefined : `${host}:${port}`
  }
}
