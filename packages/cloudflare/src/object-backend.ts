import {
  keepRunning,
  RemoteBackend,
  RemoteCalls,
  type RemoteRequest,
  ServerState,
  type WaitUntil,
} from '@sluice/fleet/backend'
import { type Clock, type Interruption, Observers } from '@sluice/limiter-core/backend'
import type { LimitStub } from './calls/limit-namespace.ts'
import { ObjectTransport } from './calls/object-transport.ts'
import type { ShardNames } from './calls/shard-names.ts'

export interface ObjectBackendDeps {
  readonly identity: object
  /** Returns a new stub of the object of a shard. */
  readonly stubOf: (shard: number) => LimitStub
  readonly waitUntil: WaitUntil | undefined
  readonly names: ShardNames
  readonly clock: Clock
  readonly serverTime: (() => number) | undefined
  readonly maxBatch: number
  readonly durable: boolean
}

/** The object of a shard, and the requests to it. */
interface Shard {
  readonly server: ServerState
  readonly requests: RemoteCalls<RemoteRequest>
}

const NAME = 'durable-object'

/** Creates the backend of `durableObjectBackend`. The group of a key is its shard. */
export function objectBackend(deps: ObjectBackendDeps): RemoteBackend {
  const { identity, names, clock } = deps
  const observers = new Observers()
  const shards = new Map<number, Shard>()
  const listeners = new Set<(event: Interruption) => void>()
  const shardOf = (key: string): Shard => {
    const number = names.shardOf(key)
    let shard = shards.get(number)
    if (!shard) {
      shard = newShard(deps, number, observers)
      shard.server.listen((event) => {
        for (const listener of listeners) listener(event)
      })
      shards.set(number, shard)
    }
    return shard
  }
  return new RemoteBackend({
    name: NAME,
    identity,
    clock,
    observers,
    nameOf: (counted) => names.nameOf(counted),
    groupOf: ({ key }) => names.shardOf(key),
    send: (request) => shardOf(request.charges[0].key).requests.add(request),
    interrupted: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    mayHaveLost: ({ key }, ageMs) => shardOf(key).server.mayHaveLost(ageMs),
    close: () => {
      for (const { server } of shards.values()) server.close()
      listeners.clear()
    },
  })
}

function newShard(deps: ObjectBackendDeps, number: number, observers: Observers): Shard {
  const { stubOf, waitUntil, clock, serverTime, maxBatch, durable } = deps
  const server = new ServerState(clock, serverTime)
  const stub = (): LimitStub => stubOf(number)
  const transport = new ObjectTransport({ stub, server, clock, durable, source: NAME })
  const requests = new RemoteCalls<RemoteRequest>({
    transport,
    clock,
    observers,
    maxBatch,
    // the task belongs to one request of a Worker, as its calls must: the runtime cancels the calls of a request that ended
    schedule: queueMicrotask,
    sent: (call) => keepRunning(waitUntil, call),
  })
  return { server, requests }
}
