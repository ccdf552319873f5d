import { jest } from '@jest/globals'

/** Loads a module of Sluice on another package in place of `client`, whichever version a user has installed. */
async function loadedOn<Module>(client: string, other: string, load: () => Promise<Module>): Promise<Module> {
  let loaded: Module | undefined
  await jest.isolateModulesAsync(async () => {
    jest.doMock(client, () => jest.requireActual(other))
    loaded = await load()
  })
  jest.dontMock(client)
  return loaded as Module
}

/** `@sluice/redis` on ioredis 5 or 6. */
export function redisOnMajor(major: 5 | 6): Promise<typeof import('@sluice/redis')> {
  return loadedOn('ioredis', major === 5 ? 'ioredis5' : 'ioredis', () => import('@sluice/redis'))
}

/** `@sluice/redis/node-redis` on node-redis 5 or 6. */
export function nodeRedisOnMajor(major: 5 | 6): Promise<typeof import('@sluice/redis/node-redis')> {
  return loadedOn('redis', major === 5 ? 'redis5' : 'redis', () => import('@sluice/redis/node-redis'))
}
