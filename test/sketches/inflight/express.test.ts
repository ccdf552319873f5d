import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { byHeader, inflightLimit } from '@sluice/express'
import { sketchInflight } from '@sluice/sketches/limits'
import { until } from '@sluice/testkit'
import express, { type Response } from 'express'
import request from 'supertest'
import { RawClient } from '../../leaks/raw-client.ts'

test.each([
  ['the sketch alone', undefined],
  ['two stages', 1],
])(
  'a cap on Express counts by key, denies, and is at 0 after all clients have disconnected: %s',
  async (_, trigger) => {
    const waiting: Response[] = []
    const backend = sketchInflight({ trigger })
    const limit = inflightLimit({ limit: 2, key: byHeader('x-api-key'), status: 429, backend })
    const app = express()
    app.get('/', limit, (_req, res) => void waiting.push(res))
    const server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const client = async (key: string): Promise<RawClient> => {
      const seen = waiting.length
      const raw = await RawClient.to(port)
      raw.send(`GET / HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${key}\r\n\r\n`)
      await until(() => waiting.length > seen, { what: 'a request that reaches the handler' })
      return raw
    }
    const counts = (): unknown[] => ['ann', 'bob'].map((key) => limit.limiter.count(key))
    try {
      const clients = [await client('ann'), await client('ann'), await client('bob')]
      expect(counts()).toEqual([2, 1])
      const denied = await request(server).get('/').set('X-Api-Key', 'ann')
      expect(denied.status).toBe(429)
      // two clients disconnect without a response, one is answered
      clients[0].leave()
      clients[2].leave()
      waiting[1].end('done')
      await until(() => counts().every((count) => count === 0), { what: 'all permits to be released' })
      await client('ann')
      expect(counts()).toEqual([1, 0])
    } finally {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
    await until(() => counts().every((count) => count === 0), { what: 'the last permit to be released' })
  },
)
