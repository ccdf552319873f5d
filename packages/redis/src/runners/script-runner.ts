import type { ScriptRunner } from '@sluice/limiter-core'
import { kindOf, processWideMap, SluiceError } from '@sluice/limiter-core/backend'
import type { IoRedisClient } from '../client/redis-client.ts'
import { ClientRunner } from './client-runner.ts'
import { customRunner } from './custom-runner.ts'
import { isGlide } from './glide-client.ts'
import { GlideRunner } from './glide-runner.ts'
import { isNodeRedis } from './node-redis-client.ts'
import { nodeRedisRunner } from './node-redis-runner.ts'
import type { RedisClient } from './redis-client.ts'

// one runner per client, so that many backends share one set of listeners on it
const runners = processWideMap<RedisClient | ScriptRunner, ScriptRunner>(Symbol.for('sluice.redisRunners@1'))

/**
 * Returns a runner for a client of ioredis, iovalkey, node-redis or valkey-glide, or for a `ScriptRunner`, which is
 * treated as clustered once a cluster rejects one of its calls. Throws `SLUICE_BAD_OPTION` for any other value.
 */
export function scriptRunner(client: RedisClient | ScriptRunner): ScriptRunner {
  const known = runners().get(client)
  if (known) return known
  const runner = makeRunner(client)
  runners().set(client, runner)
  // a runner returned by this function may be passed to it again
  runners().set(runner, runner)
  return runner
}

function makeRunner(client: RedisClient | ScriptRunner): ScriptRunner {
  if (isRunner(client)) return customRunner(client)
  if (isNodeRedis(client)) return nodeRedisRunner(client)
  if (isGlide(client)) return new GlideRunner(client)
  if (!isIoRedis(client)) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `client: expected a client of ioredis, iovalkey, node-redis or valkey-glide, or a ScriptRunner, received ${kindOf(client)}`,
    )
  }
  return new ClientRunner(client)
}

function isRunner(client: RedisClient | ScriptRunner): client is ScriptRunner {
  return typeof (client as Partial<ScriptRunner> | undefined | null)?.run === 'function'
}

function isIoRedis(value: unknown): value is IoRedisClient {
  const client = value as Partial<IoRedisClient> | undefined | null
  return typeof client?.evalsha === 'function' && typeof client.on === 'function' && typeof client.status === 'string'
}
