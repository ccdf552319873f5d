import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Controller, Get, type INestApplication, UseGuards, UseInterceptors } from '@nestjs/common'
import { ExternalContextCreator } from '@nestjs/core'
import { WsAdapter } from '@nestjs/platform-ws'
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets'
import {
  InflightLimit,
  memoryBackend,
  RateLimit,
  SluiceGuard,
  SluiceInterceptor,
  SluiceModule,
  type SluiceModuleOptions,
} from '@sluice/nest'
import { Watcher } from '@sluice/testkit'
import { WebSocket } from 'ws'
import { onSite, type Site } from '../site.ts'

@Controller()
class Orders {
  @Get()
  home(): string {
    return 'home'
  }

  message(): string {
    return 'answered'
  }

  @RateLimit({ name: 'own', limit: 2, window: '1m', key: () => 'all' })
  limited(): string {
    return 'answered'
  }

  @InflightLimit({ name: 'slow', limit: 1 })
  async slow(): Promise<string> {
    await new Promise(setImmediate)
    return 'answered'
  }
}

@WebSocketGateway()
@UseGuards(SluiceGuard)
@UseInterceptors(SluiceInterceptor)
class Chat {
  @SubscribeMessage('say')
  say(): { event: string; data: string } {
    return { event: 'said', data: '' }
  }
}

/** Calls a method as another library does: with guards, interceptors and filters, in a context of its type. */
type Call = (type: string, method: 'message' | 'limited' | 'slow', ...args: unknown[]) => Promise<unknown>

async function behind(
  options: SluiceModuleOptions,
  visit: (call: Call, site: Site, watcher: Watcher) => Promise<void>,
): Promise<void> {
  let app: INestApplication | undefined
  const watcher = new Watcher()
  const prepare = (made: INestApplication): void => {
    app = made
    made.useWebSocketAdapter(new WsAdapter(made))
  }
  const imports = [SluiceModule.forRoot({ ...options, observers: [watcher] })]
  await onSite('Express', { imports, controllers: [Orders], providers: [Chat], prepare }, (site) => {
    const creator = app?.get(ExternalContextCreator) as ExternalContextCreator
    const orders = app?.get(Orders) as Orders
    const call: Call = async (type, method, ...args) => {
      const all = { guards: true, interceptors: true, filters: true }
      const run = creator.create(orders, orders[method], method, undefined, undefined, undefined, undefined, all, type)
      try {
        return await run(...args)
      } catch (error) {
        return (error as { code?: string }).code ?? error
      }
    }
    return visit(call, site, watcher)
  })
}

const once1m = { limit: 1, window: '1m', algorithm: 'fixed-window' } as const
const types = ['rmq', 'telegraf', 'cron', 'http', 'necord'] as const
/** A message of a microservice. */
const MESSAGE = 'rpc'

describe('limits of the module', () => {
  test('count HTTP requests only, and calls of other contexts use up none of their units', () =>
    behind({ rateLimit: once1m, inflightLimit: { limit: 1 } }, async (call, { statuses }, watcher) => {
      for (const type of [...types, MESSAGE]) {
        for (let time = 0; time < 25; time++) assert.equal(await call(type, 'message', { data: 1 }, {}), 'answered')
      }
      assert.deepEqual([watcher.decisions.length, watcher.acquired], [0, 0])
      assert.deepEqual(await statuses('/', '/'), [200, 429])
      assert.equal(watcher.count('keyFallback'), 0)
    }))

  test('apply to other contexts if `contexts` has their type, with counts of their own', () =>
    behind(
      {
        rateLimit: once1m,
        contexts: {
          rmq: { rateLimit: { limit: 2, window: '1m', key: (message: { user: string }) => message.user } },
          cron: { inflightLimit: { limit: 1 } },
        },
      },
      async (call, { statuses }) => {
        const send = (user: string): Promise<unknown> => call('rmq', 'message', { user })
        const seen = [await send('ann'), await send('ann'), await send('ann'), await send('bob')]
        assert.deepEqual(seen, ['answered', 'answered', 'SLUICE_DENIED', 'answered'])
        assert.equal(await call('telegraf', 'message', { user: 'ann' }), 'answered')
        assert.deepEqual(await Promise.all([call('cron', 'slow'), call('cron', 'slow')]), ['answered', 'SLUICE_DENIED'])
        assert.deepEqual(await statuses('/', '/'), [200, 429])
      },
    ))

  test('apply to messages of a hybrid application only if `contexts` has limits for them', () => {
    const key = (context: { getPattern(): string }): string => context.getPattern()
    const rpc = { rateLimit: { limit: 2, window: '1m', key }, inflightLimit: { limit: 1 } } as const
    return behind({ rateLimit: once1m, contexts: { rpc } }, async (call, { statuses }, watcher) => {
      const send = (pattern: string): Promise<unknown> => call(MESSAGE, 'message', {}, { getPattern: () => pattern })
      assert.deepEqual([await send('a'), await send('a'), await send('b')], ['answered', 'answered', 'answered'])
      assert.deepEqual([watcher.decisions.map(({ binding }) => binding.remaining), watcher.acquired], [[1, 0, 1], 3])
      assert.equal(((await send('a')) as Error).message, 'denied by default')
      assert.deepEqual(await statuses('/', '/'), [200, 429])
    })
  })

  test('apply in all kinds of contexts on one backend without shared counts', () =>
    behind(
      {
        backend: memoryBackend(),
        rateLimit: { name: 'all', ...once1m, key: () => 'all' },
        contexts: { rmq: { rateLimit: { name: 'all', ...once1m, key: () => 'all' } } },
      },
      async (call, { statuses }) => {
        assert.deepEqual([await call('rmq', 'message'), await call('rmq', 'message')], ['answered', 'SLUICE_DENIED'])
        assert.deepEqual(await statuses('/', '/'), [200, 429])
      },
    ))

  for (const contexts of [{ http: {} }, { graphql: {} }, { rmq: { limit: 1 } }, { rmq: null }, 1]) {
    test(`are rejected at start-up for contexts: ${JSON.stringify(contexts)}`, async () => {
      await assert.rejects(
        behind({ contexts } as unknown as SluiceModuleOptions, async () => {}),
        { code: 'SLUICE_BAD_OPTION' },
      )
    })
  }
})

test('decorators of a method apply in every context, with counts of their own', () =>
  behind({}, async (call) => {
    for (const type of types) {
      const seen = [await call(type, 'limited'), await call(type, 'limited'), await call(type, 'limited')]
      assert.deepEqual(seen, ['answered', 'answered', 'SLUICE_DENIED'], type)
      assert.deepEqual(await Promise.all([call(type, 'slow'), call(type, 'slow')]), ['answered', 'SLUICE_DENIED'], type)
    }
  }))

test('messages of a gateway that binds the guard have the limits of the module, and use up no units of requests', () =>
  behind({ rateLimit: { ...once1m, scope: 'api' }, backend: memoryBackend() }, async (_call, { port, statuses }) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`)
    await once(socket, 'open')
    const heard: string[] = []
    const say = async (): Promise<void> => {
      socket.send(JSON.stringify({ event: 'say', data: '' }))
      if (process.env.NEST === '11' && heard.length > 0) return
      const [text] = await once(socket, 'message')
      heard.push(JSON.parse(String(text)).event)
    }
    await say()
    await say()
    assert.deepEqual(heard, process.env.NEST === '11' ? ['said'] : ['said', 'exception'])
    assert.deepEqual(await statuses('/', '/'), [200, 429])
    socket.terminate()
  }))
