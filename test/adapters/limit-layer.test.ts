import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createLimiter, limitOverrides, memoryBackend } from '@sluice/node-http'
import {
  admitAll,
  compileSharedOptions,
  Exchange,
  type LayerOptions,
  LimitLayer,
  sendDenial,
} from '@sluice/node-http/adapter'
import { FakeClock, until, Watcher } from '@sluice/testkit'
import { codeOf } from '../code-of.ts'
import { HurriedClock } from '../slow-down/instant-clock.ts'

type Layer = LimitLayer<IncomingMessage, ServerResponse>
type Options = LayerOptions<IncomingMessage, ServerResponse>

class BareExchange extends Exchange<IncomingMessage, ServerResponse> {
  get ip(): string | undefined {
    return this.peer
  }

  get route(): undefined {
    return undefined
  }
}

const SLOW = { after: 0, window: '1h', delayMs: 100, maxDelayMs: 100 } as const
const OWN = { ...SLOW, name: 'own', delayMs: 30, maxDelayMs: 30 } as const
const RATE = { limit: 9, window: '1m', algorithm: 'fixed-window' } as const
const servers: Server[] = []

/** A minimal framework for a layer: each path is the name of a route. */
async function serve(layers: Readonly<Record<string, Layer>>): Promise<(path: string) => Promise<string>> {
  const server = createServer(async (req, res) => {
    const exchange = new BareExchange(req, res, req, res)
    const admission = await admitAll(layers[req.url ?? ''].limits, exchange)
    if (typeof admission === 'object') sendDenial(exchange, admission)
    else res.end('ok')
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return async (path) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
    const { violated } = JSON.parse(
      (await response.text()).replace(/^ok$/, '{}').replace('violated-policies', 'violated'),
    )
    return [response.status, response.headers.get('ratelimit'), violated].filter(Boolean).join(' ')
  }
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

describe('a slow-down of a part', () => {
  /** Returns the delays of one request to a route, in order. */
  async function waits(route: Options): Promise<readonly number[]> {
    const clock = new HurriedClock()
    const app = LimitLayer.root<IncomingMessage, ServerResponse>().extend({ slowDown: { ...SLOW, clock } }, 'app')
    const ask = await serve({ '/': app.extend(route, 'route') })
    expect(await ask('/')).toBe('200')
    return clock.waits
  }

  test.each<[string, Options, readonly number[]]>([
    ['without options is that of the application', {}, [100]],
    ['replaces one of the same name, with its clock', { slowDown: { ...SLOW, delayMs: 7, maxDelayMs: 7 } }, [7]],
    ['is removed by false', { slowDown: false }, []],
    ['is skipped by name', { skipLimits: ['slow-down'] }, []],
    ['is skipped together with all limits', { skipLimits: true }, []],
    ['of another name is added, and its wait follows the other wait', { slowDown: OWN }, [100, 30]],
    ['of its own applies even if all limits above it are skipped', { skipLimits: ['slow-down'], slowDown: OWN }, [30]],
  ])('%s', async (_what, route, expected) => {
    expect(await waits(route)).toEqual(expected)
  })

  test('may have different options in every part on one backend, and is counted separately', () => {
    const backend = memoryBackend()
    const none = LimitLayer.root<IncomingMessage, ServerResponse>()
    const app = none.extend({ slowDown: { ...SLOW, backend } }, 'app')
    for (const delayMs of [1, 2, 3]) app.extend({ slowDown: { ...SLOW, delayMs } }, `part ${delayMs}`)
    for (const delayMs of [1, 2, 3]) none.extend({ slowDown: { ...SLOW, delayMs, backend } }, `alone ${delayMs}`)
    expect(codeOf(() => none.extend({ slowDown: { ...SLOW, delayMs: 9, backend } }, 'alone 1'))).toBe(
      'SLUICE_DUPLICATE_POLICY',
    )
  })
})

describe('a rate of a part that changes the inherited one', () => {
  const root = LimitLayer.root<IncomingMessage, ServerResponse>()

  test('may have only another key', async () => {
    const app = root.extend({ rateLimit: { ...RATE, limit: 1, key: () => 'all' } }, 'app')
    const ask = await serve({ '/app': app, '/own': app.extend({ rateLimit: { key: (req) => req.method } }, 'own') })
    expect([await ask('/app'), await ask('/own'), await ask('/own')].map((answer) => answer.slice(0, 3))).toEqual([
      '200',
      '200',
      '429',
    ])
  })

  test('does not inherit limits of single keys for another limit, and keeps them for another window', async () => {
    const overrides = limitOverrides({ limits: { acme: 3 } })
    const app = root.extend({ rateLimit: { ...RATE, overrides, key: () => 'acme' } }, 'app')
    const ask = await serve({
      '/limit': app.extend({ rateLimit: { limit: 1 } }, 'limit'),
      '/window': app.extend({ rateLimit: { window: '1h' } }, 'window'),
    })
    expect(await ask('/limit')).toBe('200 "default";r=0;t=60')
    expect(await ask('/window')).toBe('200 "default";r=2;t=3600')
  })
})

describe('a layer', () => {
  test('runs rates first, then slow-downs, then caps', async () => {
    const clock = new FakeClock()
    const watcher = new Watcher()
    const layer = LimitLayer.root<IncomingMessage, ServerResponse>().extend(
      {
        inflightLimit: { limit: 1, observers: [watcher] },
        slowDown: { ...SLOW, clock },
        rateLimit: { ...RATE, limit: 1, clock },
      },
      'app',
    )
    const ask = await serve({ '/': layer })
    const first = ask('/')
    await until(() => clock.pending === 1)
    expect([await ask('/'), clock.pending, watcher.acquired]).toEqual(['429 "default";r=0;t=60 default', 1, 0])
    clock.advance(100)
    expect(await first).toBe('200 "default";r=0;t=60')
    expect(watcher.acquired).toBe(1)
  })

  test('of a route without a parent may have other options on one backend than another route', async () => {
    const backend = memoryBackend({ clock: new FakeClock() })
    const none = LimitLayer.root<IncomingMessage, ServerResponse>()
    const ask = await serve({
      '/a': none.extend({ rateLimit: { ...RATE, limit: 1, backend } }, '/a'),
      '/b': none.extend({ rateLimit: { ...RATE, limit: 2, backend } }, '/b'),
    })
    const seen = [await ask('/a'), await ask('/b'), await ask('/a')]
    expect(seen).toEqual(['200 "default";r=0;t=60', '200 "default";r=1;t=60', '429 "default";r=0;t=60 default'])
  })

  test('uses the shared options unless a parent layer overrides them', async () => {
    const [shared, own] = [new FakeClock(), new FakeClock({ nowMs: 500 })]
    const watcher = new Watcher()
    const none = LimitLayer.root<IncomingMessage, ServerResponse>(
      [],
      compileSharedOptions({ clock: shared, observers: [watcher] }),
    )
    const ask = await serve({
      '/slow': none.extend({ slowDown: SLOW }, '/slow'),
      '/own': none.extend({ slowDown: { ...SLOW, clock: own } }, '/own'),
    })
    const answers = [ask('/slow'), ask('/own')]
    await until(() => shared.pending + own.pending === 2)
    expect([shared.pending, own.pending, watcher.count('slowed')]).toEqual([1, 1, 2])
    for (const clock of [shared, own]) clock.advance(100)
    expect(await Promise.all(answers)).toEqual(['200', '200'])
  })

  test('that is closed closes its child layers, ends all waits, and releases every name once', async () => {
    const clock = new FakeClock()
    const backend = memoryBackend({ clock })
    const none = LimitLayer.root<IncomingMessage, ServerResponse>()
    const app = none.extend({ rateLimit: { ...RATE, backend, clock }, slowDown: { ...SLOW, backend, clock } }, 'app')
    const route = app.extend({ rateLimit: { ...RATE, limit: 5 }, slowDown: { ...SLOW, delayMs: 50 } }, 'route')
    const ask = await serve({ '/': app, '/route': route })
    const answers = [ask('/'), ask('/route')]
    await until(() => clock.pending === 2)
    // a second copy of the application in this process: both hold the names
    const twin = none.extend({ rateLimit: { ...RATE, backend, clock, shared: true } }, 'app')
    for (let time = 0; time < 3; time++) app.close()
    expect(await Promise.all(answers)).toEqual(['200 "default";r=8;t=60', '200 "default";r=4;t=60'])
    expect(clock.pending).toBe(0)
    const other = (scope: string) => () =>
      createLimiter({ policies: [{ limit: 77, window: '1m' }], backend, scope }).close()
    expect([codeOf(other('app')), codeOf(other('route'))]).toEqual(['SLUICE_DUPLICATE_POLICY', 'accepted'])
    twin.close()
    expect(codeOf(other('app'))).toBe('accepted')
  })

  test('that is rejected leaves none of its other limits registered', () => {
    const backend = memoryBackend()
    const none = LimitLayer.root<IncomingMessage, ServerResponse>()
    const wrong: readonly Options[] = [
      { rateLimit: { ...RATE, backend }, slowDown: { ...SLOW, delayMs: 0 } },
      { rateLimit: { ...RATE, backend }, slowDown: { ...SLOW, backend }, inflightLimit: { limit: 0 } },
      { rateLimit: { ...RATE, backend }, skipLimits: 'login' as never },
      { rateLimit: { ...RATE, backend }, skipLimits: [5] as never },
    ]
    for (const options of wrong) {
      expect(codeOf(() => none.extend(options, 'app'))).toMatch(/^SLUICE_BAD_(OPTION|LIMIT)$/)
      expect(
        codeOf(() =>
          none
            .extend({ rateLimit: { ...RATE, limit: 2, backend }, slowDown: { ...SLOW, after: 1, backend } }, 'app')
            .close(),
        ),
      ).toBe('accepted')
    }
  })
})
