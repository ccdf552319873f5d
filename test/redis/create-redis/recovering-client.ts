import type { CreateRedisOptions, RedisClient } from '@sluice/redis'
import type { CreateNodeRedisOptions } from '@sluice/redis/node-redis'
import { nodeRedisOnMajor, redisOnMajor } from './on-major.ts'

/** A client made by `createRedis` or `createNodeRedis`, as the suite of both sees it. */
export interface RecoveringClient {
  readonly client: RedisClient
  /** Whether the socket is connected, and the server has not answered on it yet. */
  readonly isConnected: boolean
  readonly isReady: boolean
  /** Number of lost connections. */
  readonly losses: number
  ping(): Promise<unknown>
  close(): void
}

interface RecoveringOptions {
  readonly socketTimeout?: number
  readonly onError?: (error: Error) => void
}

type Make = (url: string, options?: RecoveringOptions) => RecoveringClient

/** Returns `createRedis` on this major version of ioredis. */
export async function ioredisMaker(major: 5 | 6): Promise<Make> {
  const { createRedis } = await redisOnMajor(major)
  return (url, options: CreateRedisOptions = {}) => {
    const client = createRedis(url, options)
    let losses = 0
    client.on('close', () => losses++)
    return {
      client: client as unknown as RedisClient,
      get isConnected() {
        return client.status === 'connect'
      },
      get isReady() {
        return client.status === 'ready'
      },
      get losses() {
        return losses
      },
      ping: () => client.ping(),
      close: () => client.disconnect(),
    }
  }
}

/** Returns `createNodeRedis` on this major version of node-redis. */
export async function nodeRedisMaker(major: 5 | 6): Promise<Make> {
  const { createNodeRedis } = await nodeRedisOnMajor(major)
  return (url, { socketTimeout, ...options } = {}) => {
    const socket = socketTimeout === undefined ? {} : { socketTimeout }
    const client = createNodeRedis(url, { ...options, socket } as CreateNodeRedisOptions)
    let [losses, isConnected] = [0, false]
    client.on('connect', () => {
      isConnected = true
    })
    client.on('ready', () => {
      isConnected = false
    })
    client.on('error', () => {
      if (!client.isReady) losses++
      isConnected = false
    })
    return {
      client: client as unknown as RedisClient,
      get isConnected() {
        return isConnected
      },
      get isReady() {
        return client.isReady
      },
      get losses() {
        return losses
      },
      ping: () => client.ping(),
      close: () => client.destroy(),
    }
  }
}
