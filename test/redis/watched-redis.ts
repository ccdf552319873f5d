import { afterAll, beforeAll } from '@jest/globals'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import type { Redis } from 'ioredis'
import { startRedis } from '../services/redis/redis-server.ts'

export interface WatchedRedis {
  readonly client: Redis
  /** Rejections without a handler since the start. */
  readonly lost: readonly unknown[]
}

/** Starts a Redis for all tests of a file, and collects the rejections that no code handles. */
export function watchedRedis(): WatchedRedis {
  const lost: unknown[] = []
  const onLost = (error: unknown): void => void lost.push(error)
  const started = { client: undefined as unknown as Redis, lost, stop: async () => {} }
  beforeAll(async () => {
    const server = await startRedis()
    started.stop = () => server.stop()
    started.client = server.client()
    await started.client.ping()
    process.on('unhandledRejection', onLost)
  })
  afterAll(async () => {
    process.off('unhandledRejection', onLost)
    await started.stop()
  })
  return started
}

export const turn = (): Promise<void> => new Promise((resolve) => afterThisTurn(resolve))
