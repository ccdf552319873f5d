import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  type INestApplication,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common'
import { WsAdapter } from '@nestjs/platform-ws'
import { MessageBody, SubscribeMessage, WebSocketGateway, WsException } from '@nestjs/websockets'
import {
  byRoute,
  InflightLimit,
  RateLimit,
  SkipLimits,
  SlowDown,
  SluiceGuard,
  SluiceInterceptor,
  SluiceModule,
  type SluiceModuleOptions,
} from '@sluice/nest'
import { FakeClock, until, Watcher } from '@sluice/testkit'
import { finalize, interval, map, NEVER, type Observable, take } from 'rxjs'
import { WebSocket } from 'ws'
import { platforms } from '../nest-app.ts'
import { onSite } from '../site.ts'

let waiting: (() => void)[] = []
let left = 0
let arrived = 0

function arrive(): string {
  arrived++
  return 'all'
}

/** Nest 11 does not report exceptions to native sockets, so users write such a filter. */
@Catch(WsException)
class TellNativeSockets implements ExceptionFilter<WsException> {
  catch(exception: WsException, host: ArgumentsHost): void {
    host
      .switchToWs()
      .getClient()
      .send(JSON.stringify({ event: 'exception', data: exception.getError() }))
  }
}

@WebSocketGateway()
@UseGuards(SluiceGuard)
@UseInterceptors(SluiceInterceptor)
@UseFilters(...(process.env.NEST === '11' ? [TellNativeSockets] : []))
class Chat {
  @SubscribeMessage('say')
  say(@MessageBody() text: string): { event: string; data: string } {
    return { event: 'said', data: text }
  }

  @SubscribeMessage('free')
  @SkipLimits()
  free(): { event: string; data: string } {
    return { event: 'free', data: '' }
  }

  @SubscribeMessage('twice')
  @RateLimit({ name: 'twice', limit: 2, window: '1m', key: (client) => client.room })
  twice(): { event: string; data: string } {
    return { event: 'twice', data: '' }
  }

  @SubscribeMessage('work')
  @InflightLimit({ name: 'work', limit: 1 })
  async work(): Promise<{ event: string; data: string }> {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return { event: 'worked', data: '' }
  }

  @SubscribeMessage('queued')
  @InflightLimit({ name: 'queued', limit: 1, queue: { max: 9, maxWaitMs: '1m' }, key: arrive })
  async queued(): Promise<{ event: string; data: string }> {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return { event: 'queued', data: '' }
  }

  @SubscribeMessage('here')
  @RateLimit({ name: 'routes', limit: 1, window: '1m', key: byRoute() })
  here(): { event: string; data: string } {
    return { event: 'here', data: '' }
  }

  @SubscribeMessage('there')
  @RateLimit({ name: 'routes', limit: 1, window: '1m', key: byRoute() })
  there(): { event: string; data: string } {
    return { event: 'there', data: '' }
  }

  @SubscribeMessage('slow')
  @SlowDown({ name: 'slow', after: 1, window: '1m', delayMs: '1s', maxDelayMs: '1s' })
  slow(): { event: string; data: string } {
    return { event: 'slow', data: '' }
  }

  @SubscribeMessage('ticks')
  @InflightLimit({ name: 'ticks', limit: 1 })
  ticks(): Observable<{ event: string; data: number }> {
    return interval(1).pipe(
      take(3),
      map((data) => ({ event: 'tick', data })),
    )
  }

  @SubscribeMessage('forever')
  @InflightLimit({ name: 'forever', limit: 1 })
  forever(): Observable<never> {
    waiting.push(() => {})
    return NEVER.pipe(finalize(() => left++))
  }
}

interface Talk {
  readonly port: number
  say(event: string, data?: unknown): void
  /** Waits for the first message of this event and removes it from the list. */
  hears(event: string): Promise<{ readonly [name: string]: unknown }>
  leave(): void
}

for (const platform of platforms) {
  describe(`messages of a gateway, Nest ${process.env.NEST} on ${platform}`, () => {
    const behind = async (
      options: SluiceModuleOptions,
      visit: (talk: Talk, watcher: Watcher) => Promise<void>,
    ): Promise<void> => {
      const watcher = new Watcher()
      ;[waiting, left, arrived] = [[], 0, 0]
      const limits = SluiceModule.forRoot({ ...options, observers: [watcher] })
      const prepare = (app: INestApplication): unknown => app.useWebSocketAdapter(new WsAdapter(app))
      await onSite(platform, { imports: [limits], providers: [Chat], prepare }, async ({ port }) => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}`)
        const heard: { event: string; data: never }[] = []
        socket.on('message', (text) => heard.push(JSON.parse(String(text))))
        await once(socket, 'open')
        await visit(
          {
            port,
            say: (event, data = '') => socket.send(JSON.stringify({ event, data })),
            hears: async (event) => {
              await until(() => heard.some((one) => one.event === event), { what: `hearing ${event}` })
              const index = heard.findIndex((one) => one.event === event)
              return heard.splice(index, 1)[0].data
            },
            leave: () => socket.terminate(),
          },
          watcher,
        )
        socket.terminate()
      })
    }

    test('are counted by the address of the client, and a denial is an exception message', () =>
      behind({ rateLimit: { limit: 1, window: '1m', algorithm: 'fixed-window' } }, async ({ say, hears }, watcher) => {
        say('say', 'one')
        assert.equal(await hears('said'), 'one')
        say('say', 'two')
        const { status, code, retryAfter, violatedPolicies, message } = await hears('exception')
        assert.deepEqual([status, code, violatedPolicies], ['error', 'SLUICE_DENIED', ['default']])
        assert.equal(message, 'denied by default')
        assert.ok(retryAfter === 59 || retryAfter === 60)
        say('free')
        await hears('free')
        assert.deepEqual([watcher.decisions.length, watcher.count('keyFallback')], [2, 0])
      }))

    test('are counted by the key that a key function returns for the client', () =>
      behind({}, async ({ say, hears }) => {
        for (const _time of [1, 2]) {
          say('twice')
          await hears('twice')
        }
        say('twice')
        assert.equal((await hears('exception')).code, 'SLUICE_DENIED')
      }))

    test('are delayed if they are sent too often, and then handled', async () => {
      const clock = new FakeClock()
      await behind({ clock }, async ({ say, hears }) => {
        say('slow')
        await hears('slow')
        say('slow')
        await until(() => clock.pending > 0)
        clock.advance(1_000)
        await hears('slow')
      })
    })

    test('release their permits when their handler is done', () =>
      behind({}, async ({ say, hears }, watcher) => {
        say('work')
        await until(() => waiting.length === 1)
        say('work')
        assert.deepEqual((await hears('exception')).violatedPolicies, ['work'])
        waiting[0]()
        await hears('worked')
        await until(() => watcher.held === 0)
        say('ticks')
        for (const _time of [1, 2, 3]) await hears('tick')
        await until(() => watcher.held === 0)
        assert.deepEqual([watcher.acquired, watcher.released, watcher.denied], [2, 2, 1])
      }))

    test('share the cap of the module', () =>
      behind({ inflightLimit: { limit: 1 } }, async ({ say, hears }, watcher) => {
        say('work')
        await until(() => waiting.length === 1)
        say('say')
        assert.deepEqual((await hears('exception')).violatedPolicies, ['inflight'])
        waiting[0]()
        await hears('worked')
        await until(() => watcher.held === 0)
        say('say')
        await hears('said')
      }))

    test('wait for a place in a queue, and do not run if their client has left meanwhile', () =>
      behind({}, async ({ say, hears, port }, watcher) => {
        say('queued')
        await until(() => waiting.length === 1)
        const other = new WebSocket(`ws://127.0.0.1:${port}`)
        await once(other, 'open')
        other.send(JSON.stringify({ event: 'queued', data: '' }))
        await until(() => arrived === 2)
        say('queued')
        await until(() => arrived === 3)
        other.terminate()
        await until(() => watcher.left === 1)
        for (const turn of [1, 2]) {
          waiting[turn - 1]()
          await hears('queued')
        }
        await until(() => watcher.held === 0)
        assert.equal(waiting.length, 2)
      }))

    test('have a count for each handler with a key by route', () =>
      behind({}, async ({ say, hears }) => {
        for (const event of ['here', 'there']) {
          say(event)
          await hears(event)
        }
        say('here')
        assert.deepEqual((await hears('exception')).violatedPolicies, ['routes'])
      }))

    test('release their permits when the client disconnects from an endless response', () =>
      behind({}, async ({ say, leave }, watcher) => {
        say('forever')
        await until(() => waiting.length === 1 && watcher.held === 1)
        leave()
        await until(() => watcher.held === 0)
        assert.deepEqual([watcher.released, left], [1, 1])
      }))
  })
}
