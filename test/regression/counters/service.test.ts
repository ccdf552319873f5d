import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { counterService, createCounters } from '@sluice/counters'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

test('a request whose client disconnects before its body is read does not occupy a place until a timeout', async () => {
  const clock = new FakeClock()
  const limiter: Limiter = createLimiter({ policies: [{ limit: 10, window: '1m' }], clock })
  const take = limiter.take.bind(limiter)
  let asked = (): void => {}
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  let goOn = (): void => {}
  const gone = new Promise<void>((resolve) => {
    goOn = resolve
  })
  // like a limiter whose backend is slow
  limiter.take = (async (...given: Parameters<typeof take>) => {
    asked()
    await gone
    return take(...given)
  }) as unknown as typeof take
  const counters = createCounters({ clock })
  const service = counterService({ counters, open: true, limits: { limiter }, clock })
  let handled: Promise<void> | undefined
  const server = createServer((req, res) => {
    handled = service(req, res)
    req.once('close', goOn)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const headers = { 'content-type': 'application/json', 'content-length': '100' }
  const client = request({ port, method: 'POST', path: '/counters/a/increment', headers })
  client.on('error', () => {})
  client.write('{')
  await isAsked
  client.destroy()
  await gone
  // the clock stands still, so no timeout ends the request
  await handled
  expect((await counters.read('a')).value).toBe(0)
  server.close()
  limiter.close()
})
