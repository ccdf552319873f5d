import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { rateLimit as fastifyRateLimit } from '@sluice/fastify'
import express from 'express'
import { fastify } from 'fastify'

const DENIED = { limit: 1, window: '1m', cost: () => 2 } as const
let close = async (): Promise<unknown> => undefined
afterEach(() => close())

test('a custom answer of Express with another status has the reason phrase of that status', async () => {
  const app = express()
  app.use(rateLimit({ ...DENIED, denied: (_req, res) => res.status(403).send('no') }))
  const server = createServer(app)
  close = () => new Promise((resolve) => server.close(resolve))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await expectForbidden((server.address() as AddressInfo).port)
})

test('a custom answer of Fastify with another status has the reason phrase of that status', async () => {
  const app = fastify({ forceCloseConnections: true })
  close = () => app.close()
  app.addHook('onRequest', fastifyRateLimit({ ...DENIED, denied: (_request, reply) => reply.code(403).send('no') }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  await expectForbidden((app.server.address() as AddressInfo).port)
})

async function expectForbidden(port: number): Promise<void> {
  const { status, statusText } = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
  expect([status, statusText]).toEqual([403, 'Forbidden'])
}
