import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { createRedis, createRedisCluster, redisBackend, redisInflight } from '@sluice/redis'

const url = 'rediss://fleet:open@/sesame@redis.example.net:6379/0'
const policies = [{ limit: 1, window: '1m' }] as const

test.each<[string, () => unknown]>([
  ['a backend', () => redisBackend(url as never)],
  ['caps', () => redisInflight(url as never, { limit: 1 })],
  ['a limiter', () => createLimiter({ policies, backend: url as never })],
  ['a limiter, for the name of an option', () => createLimiter({ policies, [url]: 1 } as never)],
  ['a client, for its options', () => createRedis(url, url as never)],
  ['a client', () => createRedis(url.replace('rediss', 'http'))],
  ['a client of a cluster', () => createRedisCluster([url] as never)],
  ['a client of a cluster, for its options', () => createRedisCluster([{ host: 'localhost' }], url as never)],
  ['a scope', () => createLimiter({ policies, scope: `#${url}` })],
  ['a long url that is shown in part', () => redisBackend(`redis://:${'sesame'.repeat(20)}@localhost` as never)],
])('the message for a url in the wrong place does not include the password: %s', (_where, wrong) => {
  let message = ''
  try {
    wrong()
  } catch (error) {
    message = String(error)
  }
  expect(message).toMatch(/SLUICE_BAD_/)
  expect(message).not.toMatch(/open|sesame/)
})
