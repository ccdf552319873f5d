import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { type CappedOptions, CappedServer } from './capped-server.ts'
import type { Handler } from './frameworks/framework.ts'
import { frameworks } from './frameworks/frameworks.ts'
import { GET } from './raw-client.ts'

const answer: Handler = (_req, res) => res.end('ok')
const POST = 'POST / HTTP/1.1\r\nHost: a\r\n'
const OK = 'HTTP/1.1 200 OK'

describe.each(Object.entries(frameworks))('%s releases a permit, exactly once,', (_name, framework) => {
  let capped: CappedServer
  const serve = async (handler: Handler = answer, options?: CappedOptions): Promise<CappedServer> => {
    capped = await CappedServer.of(framework, handler, options)
    return capped
  }
  afterEach(() => capped.close())

  test('after each request on a keep-alive connection', async () => {
    const { watcher } = await serve()
    const client = await capped.client()
    for (const times of [1, 2, 3]) {
      client.send(GET)
      await client.hears(OK, times)
      await capped.allReleased(times)
    }
    expect([client.socket.destroyed, watcher.mostHeld]).toEqual([false, 1])
  })

  test.each([
    ['after a request with Connection: close', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['of a request of HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['of HEAD', 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['after an upgrade without a listener', `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n`],
  ])('%s', async (_what, text) => {
    await serve()
    const client = await capped.entering(text)
    await client.hears(OK)
    await capped.allReleased(1)
  })

  test('after an upload that waits for 100 Continue', async () => {
    await serve((req, res) => req.resume().on('end', () => res.end('ok')))
    const client = await capped.entering(`${POST}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`)
    await client.hears('HTTP/1.1 100 Continue')
    client.send('abc')
    await client.hears(OK)
    await capped.allReleased(1)
  })

  test('after a response that is sent before the upload is read', async () => {
    await serve()
    const client = await capped.entering(`${POST}Content-Length: 1000\r\n\r\nabc`)
    await client.hears(OK)
    await capped.allReleased(1)
    expect(client.socket.destroyed).toBe(false)
  })

  test('after each of two pipelined requests that are both answered', async () => {
    await serve((_req, res) => setImmediate(() => res.end('ok')))
    const client = await capped.entering(GET + GET)
    await client.hears(OK, 2)
    await capped.allReleased(2)
  })

  test('after a response that had ended before the cap was reached', async () => {
    await serve(answer, {
      before: async (_req, res) => {
        res.end('early')
        await until(() => res.writableFinished)
      },
    })
    const client = await capped.client()
    client.send(GET)
    await client.hears('early')
    await capped.allReleased(0)
  })

  test('except for an upgrade, which its listener handles without a permit', async () => {
    await serve()
    capped.server.on('upgrade', (_req, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
    const client = await capped.client()
    client.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n')
    await client.hears('101 Switching Protocols')
    await client.closed()
    expect([capped.entered, capped.watcher.acquired]).toEqual([0, 0])
  })
})
