import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { inflightLimit } from '@sluice/express'
import { DENY } from '@sluice/limiter-core'
import { byUpstream, type UpstreamParts } from '@sluice/overload'
import { sketchInflight } from '@sluice/sketches/limits'
import { until } from '@sluice/testkit'
import express, { type Response } from 'express'
import request from 'supertest'

const view = {} as never
const keyOf = (parts: UpstreamParts | undefined): unknown => byUpstream(() => parts)({}, view)

describe('byUpstream', () => {
  test('returns a different key for each combination of parts', () => {
    const values = [undefined, '', 'a', 'b', 'a1:b', '4:host1:a', 0, 7]
    const all = values.flatMap((customer) =>
      values.flatMap((address) => values.map((host) => ({ customer, address, host }))),
    )
    const keys = all.map(keyOf)
    expect(new Set(keys).size).toBe(keys.length)
    // 'undefined' only if there is no part
    expect(keys.filter((key) => key === undefined)).toHaveLength(1)
  })

  test('does not depend on the order of the parts', () => {
    expect(keyOf({ host: 'a', customer: 'b' })).toBe(keyOf({ customer: 'b', host: 'a' }))
  })

  test('accepts promises, and null for a part that is missing', async () => {
    const parts = { customer: null, host: 'a' } as unknown as UpstreamParts
    expect(await byUpstream(async () => parts)({}, view)).toBe(keyOf({ host: 'a' }))
    expect(keyOf(undefined)).toBeUndefined()
  })

  test.each([[{}], [Number.NaN], [true], [DENY]])('throws for a part without a text of its own: %p', (part) => {
    expect(() => keyOf({ host: part as never })).toThrow(TypeError)
  })

  test('throws for what is not a function', () => {
    expect(() => byUpstream('host' as never)).toThrow(/^SLUICE_BAD_OPTION: byUpstream: expected a function/)
  })
})

test('a sketch caps each upstream of a gateway', async () => {
  const waiting: Response[] = []
  const limit = inflightLimit({
    limit: 1,
    key: byUpstream((req) => ({ customer: req.get('x-api-key'), address: '192.0.2.7', host: req.hostname })),
    backend: sketchInflight(),
  })
  const app = express()
  app.get('/', limit, (_req, res) => void waiting.push(res))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const send = (customer: string, host: string) => request(server).get('/').set('x-api-key', customer).set('host', host)
  try {
    const first = send('ann', 'a.example').then(({ status }) => status)
    await until(() => waiting.length === 1, { what: 'a request that is held' })
    expect((await send('ann', 'a.example')).status).toBe(503)
    const others = [send('bob', 'a.example'), send('ann', 'b.example')].map((sent) => sent.then(({ status }) => status))
    await until(() => waiting.length === 3, { what: 'the requests to other upstreams' })
    for (const response of waiting) response.end('done')
    expect(await Promise.all([first, ...others])).toEqual([200, 200, 200])
  } finally {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})
