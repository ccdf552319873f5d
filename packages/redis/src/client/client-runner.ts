import { createHash } from 'node:crypto'
import { type Interruption, type Script, type ScriptRunner, systemClock } from '@sluice/limiter-core/backend'
import { ConnectionWatch } from './connection-watch.ts'
import { FirstContacts } from './first-contacts.ts'
import { hashSlot } from './hash-slot.ts'
import {
  isCluster,
  type RedisClient,
  type RedisClusterClient,
  type RedisConnection,
  type RedisNode,
} from './redis-client.ts'
import { failureOf, RedisFailure } from './redis-failure.ts'

/** A call that was sent and not answered yet. */
interface Call {
  readonly connection: RedisConnection
  readonly reject: (failure: RedisFailure) => void
}

/** Milliseconds between looks for the nodes of a cluster. */
const LOOK_EVERY_MS = 200

const shas = new WeakMap<Script, string>()

/**
 * Runs scripts with ioredis: `EVALSHA`, and `EVAL` if the server does not know the script, which caches it. Calls are
 * rejected with `CONNECTION` while their connection is not ready, so that ioredis queues none of them; during the
 * first connection attempt they wait until it succeeds or fails.
 *
 * While there is a listener for interruptions, pending calls are rejected when their connection breaks, which ioredis
 * may never do.
 *
 * ioredis resends a command after a reconnect unless `autoResendUnfulfilledCommands` is false. The deadline of a call
 * bounds that: a script that arrives later does nothing.
 */
export class ClientRunner implements ScriptRunner {
  readonly clustered: boolean
  readonly #client: RedisClient
  readonly #calls = new Set<Call>()
  readonly #contacts = new FirstContacts()
  readonly #listeners = new Set<(event: Interruption, server?: string) => void>()
  #watch: ConnectionWatch | undefined
  #lookedAt: number = Number.NEGATIVE_INFINITY
  /** Why the last connection attempt failed, according to Redis or the network. */
  #refusal: RedisFailure | undefined

  constructor(client: RedisClient) {
    this.#client = client
    this.clustered = isCluster(client)
    if (client.status === 'ready') this.#contacts.made('')
  }

  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const connection = this.#connectionFor(keys[0])
    if (connection?.status === 'ready') return this.#send(connection, script, keys, args)
    const first = connection && this.#firstContact(connection, keys[0])
    if (first) return first.then(() => this.run(script, keys, args))
    // a cluster node that connects on first use
    if (connection?.status === 'wait') return this.#send(connection, script, keys, args)
    if (isCluster(this.#client)) this.#lookForNodes(this.#client)
    return Promise.reject(this.#unready(connection))
  }

  #firstContact(connection: RedisConnection, key: string): Promise<void> | undefined {
    // a client that connects on first use
    if (connection === this.#client && connection.status === 'wait') connection.connect?.().catch(() => {})
    return this.#contacts.of(connection === this.#client ? '' : this.serverOf(key), connection)
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
      const failed = (error: unknown): void => {
        this.#calls.delete(call)
        reject(this.#ofOneNode(failureOf(error)))
      }
      sent.then(answered, (error) => {
        if (isUnknown(error)) client.eval(script.text, keys.length, ...keys, ...args).then(answered, failed)
        else failed(error)
      })
    })
  }

  serverOf(key: string): string {
    const client = this.#client
    if (!isCluster(client)) return ''
    // the client's own prefix precedes our names, and may contain a hash tag
    return client.slots[hashSlot(`${client.options.keyPrefix ?? ''}${key}`)]?.[0] ?? ''
  }

  interrupted(listener: (event: Interruption, server?: string) => void): () => void {
    // one function may listen twice, and stop once
    const entry = (event: Interruption, server?: string): void => listener(event, server)
    this.#listeners.add(entry)
    this.#watch ??= new ConnectionWatch(this.#client, {
      lost: (connection) => this.#lost(connection),
      back: (connection) => {
        this.#refusal = undefined
        this.#contacts.made(this.#nameOf(connection) ?? '')
        this.#tell('back', connection)
      },
      failed: (error) => {
        this.#refusal = failureOf(error)
      },
    })
    return () => {
      this.#listeners.delete(entry)
      if (this.#listeners.size > 0) return
      this.#watch?.close()
      this.#watch = undefined
    }
  }

  #unready(connection: RedisConnection | undefined): RedisFailure {
    const { code, message } = this.#refusal ?? { code: 'CONNECTION', message: '' }
    const state = `the connection to Redis is ${connection?.status ?? 'not known yet'}`
    const why = code === 'CONNECTION' ? [state, message].filter(Boolean).join(': ') : message
    return this.#ofOneNode(new RedisFailure(code, why))
  }

  /**
   * A working cluster connection says nothing about the other nodes: one dead node must not stop the others from
   * counting.
   */
  #ofOneNode(failure: RedisFailure): RedisFailure {
    const isOne = this.clustered && this.#client.status === 'ready' && failure.code === 'CONNECTION'
    if (!isOne) return failure
    const { code, message, mayHaveCounted } = failure
    return new RedisFailure(code, message, { keyOnly: true, mayHaveCounted })
  }

  /** A cluster client of ioredis looks for a new master when a command fails, but here none was sent. */
  #lookForNodes(cluster: RedisClusterClient): void {
    const now = systemClock.now()
    if (cluster.status !== 'ready' || now < this.#lookedAt + LOOK_EVERY_MS) return
    this.#lookedAt = now
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
      const message = 'the connection to Redis broke before the answer came'
      const failure = new RedisFailure('CONNECTION', message, { mayHaveCounted: true })
      call.reject(this.#ofOneNode(failure))
    }
    this.#tell('lost', connection)
  }

  #tell(event: Interruption, connection: RedisConnection): void {
    const server = this.#nameOf(connection)
    for (const listener of this.#listeners) listener(event, server)
  }

  /** Returns the name of a connection, see `serverOf`; undefined for a cluster as a whole. */
  #nameOf(connection: RedisConnection): string | undefined {
    if (!this.clustered) return ''
    const { host, port } = (connection as Partial<RedisNode>).options ?? {}
    return connection === this.#client ? undefined : `${host}:${port}`
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

function shaOf(script: Script): string {
  let sha = shas.get(script)
  if (sha === undefined) {
    sha = createHash('sha1').update(script.text).digest('hex')
    shas.set(script, sha)
  }
  return sha
}
