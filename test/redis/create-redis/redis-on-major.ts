import { jest } from '@jest/globals'

type SluiceRedis = typeof import('@sluice/redis')

/** `@sluice/redis` on ioredis 5 or 6, whichever version a user has installed. */
export async function redisOnMajor(major: 5 | 6): Promise<SluiceRedis> {
  let loaded: SluiceRedis | undefined
  await jest.isolateModulesAsync(async () => {
    jest.doMock('ioredis', () => jest.requireActual(major === 5 ? 'ioredis5' : 'ioredis'))
    loaded = await import('@sluice/redis')
  })
  jest.dontMock('ioredis')
  return loaded as SluiceRedis
}
