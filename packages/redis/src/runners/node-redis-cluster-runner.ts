import { type Script, type ScriptRunner, systemClock } from '@sluice/limiter-core/backend'
import { firstOf } from '../client/first-event.ts'
import { hashSlot } from '../client/hash-slot.ts'
import { failureOf, keyOnlyFailure, type RedisFailure } from '../client/redis-failure.ts'
import { evaluated } from './evaluated.ts'
import type { NodeRedisCluster } from './node-redis-client.ts'
import { sentCommands } from './node-redis-commands.ts'
import { notConnectedFailure, silentFailure } from './node-redis-failures.ts'
import { PendingCalls } from './pending-calls.ts'
import { silenceLimitMs } from './silence-limit.ts'

/** Minimum time in ms between two refreshes of the slot table. */
const REFRESH_EVERY_MS = 500

/**
 * Runs scripts over a cluster of node-redis. Calls wait for the first connection. A broken connection to one node
 * concerns only the keys of that node.
 */
export class NodeRedisClusterRunner implements ScriptRunner {
  readonly clustered = true
  readonly #client: NodeRedisCluster
  readonly #silentMs: number
  readonly #pending = new Map<string, PendingCalls>()
  #first: Promise<void> | undefined
  #wasTried = false
  #refreshedAt: number = Number.NEGATIVE_INFINITY

  constructor(client: NodeRedisCluster) {
    this.#client = client
    this.#silentMs = silenceLimitMs(client)
    // without a listener, node-redis ends the process when a connection is lost
    client.on('error', () => {})
  }

  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    if (!this.#client.isOpen) return Promise.reject(notConnectedFailure())
    const server = this.serverOf(keys[0] ?? '')
    if (server === '' && !this.#hasTried()) {
      this.#first ??= this.#firstAttempt()
      return this.#first.then(() => this.run(script, keys, args))
    }
    const pending = this.#pendingAt(server)
    if (pending.isSilent) return Promise.reject(keyOnlyFailure(silentFailure()))
    return pending.add(evaluated(this.#client, script, keys, args)).catch((failure: RedisFailure) => {
      if (failure.code !== 'CONNECTION') throw failure
      this.#refreshSlots(keys[0] ?? '')
      throw keyOnlyFailure(failure)
    })
  }

  sendCommands(commands: readonly (readonly string[])[]): Promise<readonly unknown[]> | undefined {
    const [[, key]] = commands
    const server = this.serverOf(key)
    if (!this.#client.isOpen || server === '') return undefined
    const pending = this.#pendingAt(server)
    if (pending.isSilent) return undefined
    const sent = sentCommands(this.#client, commands)
    if (!sent) return undefined
    return pending.add(sent).then((replies) => {
      if (!replies.some((reply) => reply instanceof Error && failureOf(reply).code === 'CONNECTION')) return replies
      this.#refreshSlots(key)
      return replies.map((reply) => (reply instanceof Error ? keyOnlyFailure(failureOf(reply)) : reply))
    })
  }

  /** Whether the client has tried to connect. A client that knows any node has, even if a slot has no node. */
  #hasTried(): boolean {
    this.#wasTried ||= this.#client.slots.some((shard) => shard !== undefined)
    return this.#wasTried
  }

  async #firstAttempt(): Promise<void> {
    await firstOf(this.#client, ['connect', 'error', 'disconnect'])
    this.#wasTried = true
  }

  /**
   * node-redis 5 looks for the new master of a slot only when a node redirects a command, but the node that is gone
   * redirects nothing. So another node is asked for the key.
   */
  #refreshSlots(key: string): void {
    const now = systemClock.now()
    if (now < this.#refreshedAt + REFRESH_EVERY_MS) return
    this.#refreshedAt = now
    this.#client.sendCommand(undefined, true, ['GET', key]).catch(() => {})
  }

  serverOf(key: string): string {
    const { host, port } = this.#client.slots[hashSlot(key)]?.master ?? {}
    return host === undefined ? '' : `${host}:${port}`
  }

  #pendingAt(server: string): PendingCalls {
    const known = this.#pending.get(server)
    if (known) return known
    const pending = new PendingCalls(this.#silentMs)
    this.#pending.set(server, pending)
    return pending
  }
}
