import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { redisBackend } from '@sluice/redis'
import { chargeOf, minute } from '../../redis/exact/charge.ts'

const unhandled: unknown[] = []
const hear = (reason: unknown): number => unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', hear)
})
afterEach(async () => {
  await new Promise(setImmediate)
  process.off('unhandledRejection', hear)
  expect(unhandled).toEqual([])
})

const throws = (): never => {
  throw new Error('looked at')
}

test.each<[string, unknown]>([
  ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: throws })],
  ['an error whose message is not a string', Object.assign(new Error(), { message: Symbol('none') })],
  ['a value that throws on every access', new Proxy({}, { get: throws, getPrototypeOf: throws })],
  ['nothing', undefined],
])('a runner may reject with %s, and every decision settles', async (_what, thrown) => {
  const backend = redisBackend({ run: () => Promise.reject(thrown) })
  for (const takes of [1, 3]) {
    const settled = await Promise.allSettled(
      Array.from({ length: takes }, (_, at) => backend.takeAll([chargeOf(backend, minute, `key ${at}`)])),
    )
    for (const one of settled) {
      expect(one).toMatchObject({ status: 'rejected', reason: { name: 'RedisFailure', code: 'CONNECTION' } })
    }
  }
})
