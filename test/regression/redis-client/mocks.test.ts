import { expect, test } from '@jest/globals'
import { leasedBackend, redisBackend, redisInflight } from '@sluice/redis'

/** The shape of ioredis-mock: commands, and no state of a connection. */
const mock = { evalsha: async () => [], on: () => {}, options: {} } as never

test.each([
  ['redisBackend', () => redisBackend(mock)],
  ['leasedBackend', () => leasedBackend(mock)],
  ['redisInflight', () => redisInflight(mock)],
])('%s refuses a mock of Redis and names what tests use instead', (_name, create) => {
  expect(create).toThrow(/memoryBackend\(\), because mocks such as ioredis-mock do not run the scripts of Sluice/)
})

test('another object is refused by its kind', () => {
  expect(() => redisBackend({} as never)).toThrow('or a ScriptRunner, received an object')
})
