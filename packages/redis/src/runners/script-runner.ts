import type { ScriptRunner } from '@sluice/limiter-core'
import { kindOf, processWideMap, SluiceError } from '@sluice/limiter-core/backend'
import type { IoRedisClient } from '../client/redis-client.ts'
import { isUpstash } from '../rest/upstash-client.ts'
import { UpstashRunner } from '../rest/upstash-runner.ts'
import { ClientRunner } from './client-runner.ts'
import { customRunner } from './custom-runner.ts'
import { isGlide } from './glide-client.ts'
import { GlideRunner } from './glide-runner.ts'
import { isNodeRedis } from './node-redis-client.ts'
import { nodeRedisRunner } from './node-redis-runner.ts'
import type { RedisClient } from './redis-client.ts'

const MOCK =
  'or in tests no backend or memoryBackend(), because mocks such as ioredis-mock do not run the scripts of Sluice'

// one runner per client, so that many backends share one set of listeners on it
const runners = processWideMap<RedisClient | ScriptRunner, ScriptRunner>(Symbol.for('sluice.redisRunners@1'))

/**
 * Returns a runner for a client of ioredis, iovalkey, node-redis, valkey-glide or @upstash/redis, or for a `ScriptRunner`, which is
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
  if (isUpstash(client)) return new UpstashRunner(client)
  if (!isIoRedis(client)) {
    const received = hasCommands(client) ? `${MOCK}, received a mock` : `received ${kindOf(client)}`
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `client: expected a client of ioredis, iovalkey, node-redis, valkey-glide or @upstash/redis, or a ScriptRunner, ${received}`,
    )
  }
  return new ClientRunner(client)
}

function isRunner(client: RedisClient | ScriptRunner): client is ScriptRunner {
  return typeof (client as Partial<ScriptRunner> | undefined | null)?.run === 'function'
}

/** Whether the value has the commands of ioredis, as ioredis-mock has them, which has no connection. */
function hasCommands(value: unknown): boolean {
  const client = value as Partial<IoRedisClient> | undefined | null
  return typeof client?.evalsha === 'function' && typeof client.on === 'function'
}

function isIoRedis(value: unknown): value is IoRedisClient {
  return hasCommands(value) && typeof (value as IoRedisClient).status === 'string'
}
