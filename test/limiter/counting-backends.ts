import { afterAll, beforeAll } from '@jest/globals'
import { type Backend, memoryBackend } from '@sluice/limiter-core'
import { MemorySyncLedger, SyncingBackend, syncTermsOf } from '@sluice/limiter-core/sync'
import { leasedBackend, redisBackend } from '@sluice/redis'
import { sketchBackend } from '@sluice/sketches/limits'
import type { FakeClock } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { PairedPrimary } from '../cluster/paired.ts'
import { PromisedBackend } from '../contracts/promised-backend.ts'
import { ownPrefix } from '../redis/exact/own-prefix.ts'
import { type RedisServer, startRedis } from '../services/redis-server.ts'

export const TERMS = { fraction: 0.1, leaseMs: 1_000 }

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = server.client()
  await client.ping()
})
afterAll(() => server.stop())

/** One of each kind, over a Redis of the test file. */
export const countingBackends: Readonly<Record<string, (clock: FakeClock) => Backend>> = {
  memoryBackend: (clock) => memoryBackend({ clock }),
  'one behind a network': (clock) => new PromisedBackend(clock),
  sketchBackend: (clock) => sketchBackend({ seed: 'sixteen secret bytes', clock }),
  redisBackend: () => redisBackend(client, { prefix: ownPrefix() }),
  leasedBackend: () => leasedBackend(client, { prefix: ownPrefix() }),
  'a worker of a cluster': (clock) => new PairedPrimary(TERMS, clock).worker(),
  'a synced backend': (clock) => syncedWith(new MemorySyncLedger(clock), clock),
}

/** A synced backend that has the fleet's whole limit for its own. */
export function syncedWith(ledger: MemorySyncLedger, clock: FakeClock): Backend {
  const terms = syncTermsOf('test', { burst: 1, nodes: 1 })
  return new SyncingBackend({
    name: 'synced',
    ledger: ledger.join(),
    terms,
    rule: { source: 'local', share: 1 },
    clock,
  })
}
