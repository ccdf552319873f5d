import { describe, test } from '@jest/globals'
import { syncedBackend } from '@sluice/redis'
import { backendContract } from '@sluice/testkit'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { ownPrefix } from '../exact/own-prefix.ts'

const redis = redisClientForTests()

describe('a single syncedBackend on its Redis', () => {
  backendContract(
    { describe, test },
    (clock) =>
      syncedBackend(redis.client, { burst: 1, nodes: 1, prefix: ownPrefix(), clock, serverTime: () => clock.now() }),
    { algorithms: ['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] },
  )
})
