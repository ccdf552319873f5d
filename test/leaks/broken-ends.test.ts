import { createReadStream } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { PassThrough, pipeline } from 'node:stream'
import { afterEach, describe, expect, test } from '@jest/globals'

import { FakeClock, until } from '@sluice/testkit'
import { type CappedOptions, CappedServer } from './capped-server.ts'
import type { Handler } from './frameworks/framework.ts'
import { frameworks } from './frameworks/frameworks.ts'
import { GET } from './raw-client.ts'

const hang: Handler = () => {}
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc'
const EIGHT_MB = Buffer.alloc(8 * 1_024 * 1_024)

describe.each(Object.entries(frameworks))('%s releases a permit, exactly once,', (_name, framework) => {
  let capped: CappedServer
  const serve = async (handler: Handler, options?: CappedOptions): Promise<CappedServer> => {
    capped = await CappedServer.of(framework, handler, options)
    return capped
  }
  afterEach(() => capped.close())

  test('when the client disconnects during its upload', async () => {
    await serve((req, res) => req.resume().on('end', () => res.end()))
    const client = await capped.entering(POST)
    client.leave()
    await capped.allReleased(1)
  })

  test('when the client disconnects from a handler that never responds', async () => {
    await serve(hang)
    const client = await capped.entering(GET)
    expect(capped.watcher.held).toBe(1)
    client.leave()
    await capped.allReleased(1)
  })

  test('when the client closes its half of the connection', async () => {
    await serve(hang)
    const client = await capped.entering(GET)
    client.socket.end()
    await capped.allReleased(1)
  })

  test('when the client disconnects and the handler still responds', async () => {
    let response: ServerResponse | undefined
    await serve((_req, res) => {
      response = res
    })
    const client = await capped.entering(GET)
    client.leave()
    await capped.allReleased(1)
    response?.end('too late')
    await capped.allReleased(1)
  })

  test('when a client of server-sent events disconnects', async () => {
    await serve((_req, res) => {
      res.setHeader('Content-Type', 'text/event-stream')
      res.write('data: 1\n\n')
    })
    const client = await capped.entering(GET)
    await client.hears('data: 1')
    expect(capped.watcher.held).toBe(1)
    client.leave()
    await capped.allReleased(1)
  })

  test('when the source of a pipe fails and the client disconnects', async () => {
    await serve((_req, res) => {
      const source = new PassThrough().on('error', () => {})
      source.pipe(res)
      source.write('a part')
      setImmediate(() => source.destroy(new Error('disk')))
    })
    const client = await capped.entering(GET)
    await client.hears('a part')
    expect(capped.watcher.held).toBe(1)
    client.leave()
    await capped.allReleased(1)
  })

  test('when the source of a pipeline fails', async () => {
    await serve((_req, res) => pipeline(createReadStream('/no/such/file'), res, () => {}))
    const client = await capped.entering(GET)
    await capped.allReleased(1)
    await client.closed()
  })

  test.each<[string, Handler]>([
    ['destroys the response', (_req, res) => res.destroy()],
    ['destroys the response with an error', (_req, res) => res.on('error', () => {}).destroy(new Error('enough'))],
    ['destroys the socket', (req) => req.socket.destroy()],
    ['takes over the socket and ends it', (req) => req.socket.end('HTTP/1.1 204 No Content\r\n\r\n')],
    [
      'detaches the socket and ends it',
      (req, res) => {
        res.detachSocket(req.socket)
        req.socket.end('HTTP/1.1 204 No Content\r\n\r\n')
      },
    ],
  ])('when the handler %s', async (_what, handler) => {
    await serve(handler)
    const client = await capped.entering(GET)
    await capped.allReleased(1)
    await client.closed()
  })

  test('when the handler takes over the socket and the client disconnects', async () => {
    await serve((req, res) => {
      res.detachSocket(req.socket)
      req.socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    })
    const client = await capped.entering(GET)
    await client.hears('101 Switching')
    expect(capped.watcher.held).toBe(1)
    client.leave()
    await capped.allReleased(1)
  })

  test('when a client disconnects after reading half of 8 MB', async () => {
    await serve((_req, res) => res.end(EIGHT_MB))
    const client = await capped.entering(GET)
    await client.hears('HTTP/1.1 200 OK')
    client.leave()
    await capped.allReleased(1)
  })

  test('when the request timeout of the server expires', async () => {
    // not the timeout of the server: on a busy machine the connection could end before its request arrives
    await serve((req) => void req.socket.setTimeout(10))
    const client = await capped.entering(GET)
    await client.closed()
    await capped.allReleased(1)
  })

  test('when the server closes all connections', async () => {
    await serve(hang)
    const client = await capped.entering(GET)
    capped.server.closeAllConnections()
    await client.closed()
    await capped.allReleased(1)
  })

  test('when a slow client holds it longer than maxHoldMs', async () => {
    const clock = new FakeClock()
    await serve((_req, res) => res.end(EIGHT_MB), { cap: { maxHoldMs: '30s', clock } })
    const client = await capped.entering(GET)
    client.socket.pause()
    clock.advance(29_999)
    expect(capped.watcher.held).toBe(1)
    clock.advance(1)
    await capped.allReleased(1)
    client.leave()
    await capped.allReleased(1)
  })

  test.each([2, 20])('for each of %i pipelined requests when the connection closes during the first', async (times) => {
    await serve(hang)
    const client = await capped.client()
    client.send(GET.repeat(times))
    await until(() => capped.entered === times)
    client.leave()
    await capped.allReleased(times)
  })
})
