import { MemorySyncLedger, SyncingBackend, syncTermsOf } from '@sluice/fleet/sync'
import { type Backend, type Limiter, memoryBackend } from '@sluice/limiter-core'
import { leasedBackend, redisBackend } from '@sluice/redis'
import { sketchBackend } from '@sluice/sketches/limits'
import type { FakeClock } from '@sluice/testkit'
import { PairedPrimary } from '../cluster/paired.ts'
import { PromisedBackend } from '../contracts/async-backend.ts'
import { ownRedis } from '../redis/channel/own-redis.ts'

export const TERMS = { fraction: 0.1, leaseMs: 1_000 }

const redis = ownRedis()

/** One backend of each kind, over the Redis server of the test file. */
export const countingBackends: Readonly<Record<string, (clock: FakeClock) => Backend>> = {
  memoryBackend: (clock) => memoryBackend({ clock }),
  'one behind a network': (clock) => new PromisedBackend(clock),
  sketchBackend: (clock) => sketchBackend({ seed: 'sixteen secret bytes', clock }),
  redisBackend: () => redisBackend(redis.client, { prefix: redis.prefix() }),
  leasedBackend: () => leasedBackend(redis.client, { prefix: redis.prefix() }),
  'a worker of a cluster': (clock) => new PairedPrimary(TERMS, clock).worker(),
  'a synced backend': (clock) => syncedWith(new MemorySyncLedger(clock), clock),
}

/** A synced backend of a fleet with only one process. */
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

/** Returns how many takes of a key pass. */
export async function passing(limiter: Limiter, key: string, most = 60): Promise<number> {
  let passed = 0
  while (passed < most && (await limiter.take(key)).allowed) passed++
  return passed
}
