import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, constants, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/node-http'
import { Warnings } from '@sluice/testkit'

const half = (res: ServerResponse, length: object): void => {
  res.writeHead(429, { ...length })
  res.write('half')
}

test.each<[string, (res: ServerResponse) => unknown]>([
  [
    'throws after a declared length',
    (res) => {
      half(res, { 'Content-Length': 100 })
      throw new Error('no template')
    },
  ],
  [
    'rejects after a declared length',
    async (res) => {
      half(res, { 'Content-Length': 100 })
      throw new Error('no template')
    },
  ],
  [
    'throws in the middle of a stream',
    (res) => {
      half(res, {})
      throw new Error('no template')
    },
  ],
])(
  'a client detects that a custom answer which %s is incomplete, and does not wait for the rest',
  async (_how, answer) => {
    const warnings = new Warnings()
    warnings.listen()
    const limit = rateLimit({ limit: 1, window: '1m', cost: () => 2, denied: (_req, res) => answer(res) })
    const server = createServer(limit.wrap(() => {})).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const sent = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }).end()
    let whole = false
    sent.on('error', () => {})
    sent.on('response', (response) => {
      response.on('error', () => {})
      response.resume().once('end', () => {
        whole = response.complete
      })
    })
    await new Promise((resolve) => sent.once('close', resolve))
    expect(whole).toBe(false)
    warnings.stop()
    expect(warnings.codes).toEqual(['SLUICE_HOOK_FAILED'])
    server.close()
    server.closeAllConnections()
  },
)

test('a client of node:http2 detects it as well', async () => {
  const warnings = new Warnings()
  warnings.listen()
  const denied = (_req: IncomingMessage, res: ServerResponse): never => {
    half(res, { 'content-length': 100 })
    throw new Error('no template')
  }
  const limit = rateLimit({ limit: 1, window: '1m', cost: () => 2, denied })
  const server = createHttp2Server(limit.wrap(() => {}) as never).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const stream = session.request({ ':path': '/' }).resume()
  const [error] = await once(stream, 'error')
  expect([error.code, stream.rstCode]).toEqual(['ERR_HTTP2_STREAM_ERROR', constants.NGHTTP2_INTERNAL_ERROR])
  warnings.stop()
  session.destroy()
  server.close()
  await once(server, 'close')
})
