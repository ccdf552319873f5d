import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { FakeClock, until } from '@sluice/testkit'
import { fastify } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import { limited, limits } from '../../adapters/fastify/fastify-injected.ts'

// the server waits for its last answers before it emits close
test.each([
  ['5', fastify],
  ['4', fastify4 as unknown as typeof fastify],
])(
  'a Fastify %s application that closes releases all delayed requests, in every plugin scope',
  async (_version, make) => {
    const [app, clock] = [make(), new FakeClock()]
    const slowDown = { after: 0, window: '1m', delayMs: '1s', maxDelayMs: '1s' } as const
    await limited(app, { slowDown, clock })
    app.get('/', async () => 'ok')
    app.get('/own', limits({ slowDown: { ...slowDown, name: 'own' } }), async () => 'ok')
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    const asked = ['', 'own'].map((path) =>
      fetch(`http://127.0.0.1:${port}/${path}`, { headers: { connection: 'close' } }),
    )
    await until(() => clock.pending === 2)
    await app.close()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200])
    expect(clock.pending).toBe(0)
  },
)
