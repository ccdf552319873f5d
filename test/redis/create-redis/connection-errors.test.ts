import { expect, test } from '@jest/globals'
import { createRedis, redisBackend } from '@sluice/redis'
import { until } from '@sluice/testkit'
import { freePort } from '../../services/free-port.ts'
import { chargeOf, minute } from '../exact/charge.ts'

async function messageAt(host: string): Promise<string> {
  let refused = false
  const client = createRedis({ host, port: await freePort(), onError: () => (refused = true) })
  const backend = redisBackend(client)
  const stop = backend.interrupted?.(() => {})
  try {
    await until(() => refused)
    return await backend.takeAll([chargeOf(backend, minute, 'anna')]).then(
      () => 'counted',
      ({ code, message }) => `${code}: ${message}`,
    )
  } finally {
    stop?.()
    client.disconnect()
  }
}

test('an error without a connection includes the network error', async () => {
  expect(await messageAt('127.0.0.1')).toMatch(/^CONNECTION: the connection to Redis is \w+: connect ECONNREFUSED 127/)
})

test('an error without a connection to any address of a host name includes it, too', async () => {
  expect(await messageAt('localhost')).toMatch(/^CONNECTION: the connection to Redis is \w+: .*ECONNREFUSED/)
})
