import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { CappedServer } from '../../leaks/capped-server.ts'
import type { Handler } from '../../leaks/frameworks/framework.ts'
import { frameworks } from '../../leaks/frameworks/frameworks.ts'

const SLOW = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'
const LARGE = 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n'
/** A request whose body never arrives. */
const UNFINISHED = 'POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n'

/** The first response never ends, and the later ones exceed the buffer of Node, which stops reading the connection. */
const handler: Handler = (req: IncomingMessage, res: ServerResponse) =>
  req.url === '/slow' ? once(res, 'close') : void res.end(Buffer.alloc(1_000_000))

// fast timers, so that the check runs early
jest.useFakeTimers({ advanceTimers: true, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] })

describe.each(Object.entries(frameworks))('%s', (_name, framework) => {
  let capped: CappedServer
  afterEach(() => capped.close())

  test.each([false, true])('releases its permits within a minute (cap around the handler: %s)', async (wrapped) => {
    capped = await CappedServer.of(framework, handler, { wrapped })
    const client = await capped.client()
    client.send(SLOW + LARGE + UNFINISHED)
    await until(() => capped.entered === 3)
    client.leave()
    await client.closed()
    expect(capped.watcher.held).toBe(3)
    jest.advanceTimersByTime(60_000)
    await capped.allReleased(3)
  })

  test('does not affect a client that waits for its turn and receives data', async () => {
    let slow: ServerResponse | undefined
    capped = await CappedServer.of(framework, (req, res) => {
      if (req.url !== '/slow') return void res.end(Buffer.alloc(1_000_000))
      slow = res
      return once(res, 'close')
    })
    const client = await capped.client()
    client.send(SLOW + LARGE)
    await until(() => capped.entered === 2)
    for (let written = 0; written < 6; written++) {
      slow?.write('a part')
      await client.hears('a part', written + 1)
      jest.advanceTimersByTime(20_000)
    }
    expect([client.socket.destroyed, capped.watcher.held]).toEqual([false, 2])
    slow?.end()
    await capped.allReleased(2)
  })
})
