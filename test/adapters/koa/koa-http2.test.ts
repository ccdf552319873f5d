import { once } from 'node:events'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/koa'
import { Warnings } from '@sluice/testkit'
import Koa from 'koa'
import { Koa2 } from './koa2.ts'

test.each([
  ['Koa 3', Koa],
  ['Koa 2', Koa2],
])('%s over HTTP/2 sends a denial with the same bytes, and prints no warning', async (_name, Make) => {
  const warnings = new Warnings()
  warnings.listen()
  const app = new Make()
  app.use(rateLimit({ limit: 1, window: '1m', cost: () => 2 }))
  const server = createServer(app.callback())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const stream = session.request({ ':path': '/', ':method': 'POST', 'content-length': '100000' })
  stream.on('error', () => {})
  const [headers] = await once(stream, 'response')
  let body = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    body += text
  })
  await once(stream, 'end')
  session.destroy()
  server.close()
  await once(server, 'close')
  warnings.stop()
  expect(Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'date'))).toEqual({
    ':status': 429,
    'ratelimit-policy': '"default";q=1;w=60',
    ratelimit: '"default";r=0',
    'cache-control': 'no-store',
    'content-type': 'application/problem+json',
    'content-length': '143',
  })
  expect([body.length, warnings.codes]).toEqual([143, []])
})
