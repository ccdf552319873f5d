import type { Socket } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type InflightBackend, type Permit } from '@sluice/node-http'
import { until } from '@sluice/testkit'
import { type CappedOptions, CappedServer } from './capped-server.ts'
import type { Handler } from './frameworks/framework.ts'
import { frameworks } from './frameworks/frameworks.ts'
import { GET } from './raw-client.ts'

const hang: Handler = () => {}

describe.each(Object.entries(frameworks))(
  '%s, whose client disconnects before a permit is granted,',
  (_name, framework) => {
    let capped: CappedServer
    const serve = async (handler: Handler, options?: CappedOptions): Promise<CappedServer> => {
      capped = await CappedServer.of(framework, handler, options)
      return capped
    }
    afterEach(() => capped.close())

    test('takes no permit after async work', async () => {
      let working = 0
      let gone = 0
      await serve(hang, {
        before: async (req) => {
          working++
          await until(() => req.socket.destroyed)
          gone++
        },
      })
      const client = await capped.client()
      client.send(GET)
      await until(() => working === 1)
      client.leave()
      await until(() => gone === 1)
      await capped.allReleased(0)
      expect(capped.entered).toBe(0)
    })

    test('immediately releases a permit granted later', async () => {
      const local = createInflightLimiter({ limit: 1 })
      const waiting: ((permit: Permit) => void)[] = []
      const backend: InflightBackend = { acquire: () => new Promise((resolve) => waiting.push(resolve)) }
      await serve(hang, { cap: { backend, observers: [] } })
      const sockets: Socket[] = []
      capped.server.on('connection', (socket) => sockets.push(socket))
      const client = await capped.client()
      client.send(GET)
      await until(() => waiting.length === 1)
      client.leave()
      await until(() => sockets[0].closed)
      waiting[0](local.acquire() as Permit)
      expect(local.count()).toBe(1)
      await until(() => local.count() === 0)
      expect(capped.entered).toBe(0)
    })
  },
)
