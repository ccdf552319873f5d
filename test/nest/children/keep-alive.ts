import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { Controller, Get, type INestApplication, Injectable, Req, Scope } from '@nestjs/common'
import { InflightLimit, RateLimit, SluiceModule } from '@sluice/nest'
import { until, Watcher } from '@sluice/testkit'
import { GET, RawClient } from '../../leaks/raw-client.ts'
import { type Platform, platforms } from '../nest-app.ts'
import { onSite, type Site } from '../site.ts'

// Node and the platforms behave the same under both versions
const REQUESTS = process.env.NEST === '12' ? 10_000 : 1_000
const SOCKETS = 20
// Node warns from ten listeners
const MAX_LISTENERS = 9

let mostListeners = 0
let made = 0

function most(emitter: unknown): number {
  if (!(emitter instanceof EventEmitter)) return 0
  return Math.max(0, ...emitter.eventNames().map((name) => emitter.listenerCount(name)))
}

@Controller()
class Home {
  @Get()
  home(@Req() req: IncomingMessage & { raw?: IncomingMessage }): string {
    const incoming = req.raw ?? req
    const { res } = incoming as unknown as { res?: ServerResponse }
    mostListeners = Math.max(mostListeners, most(incoming), most(res), most(incoming.socket))
    return 'ok'
  }
}

@Injectable({ scope: Scope.REQUEST })
class PerRequest {
  readonly id: number = ++made
}

@Controller({ path: 'scoped', scope: Scope.REQUEST })
class Scoped {
  readonly mine: PerRequest

  constructor(mine: PerRequest) {
    this.mine = mine
  }

  @Get()
  @RateLimit({ name: 'scoped', limit: 2, window: '1m' })
  @InflightLimit({ name: 'scoped', limit: 1 })
  home(): string {
    return String(this.mine.id)
  }
}

/** Wraps every handler like a tracer: a new function that copies all metadata of the old one. */
@Controller({ path: 'traced', scope: Scope.REQUEST })
class Traced {
  constructor() {
    const { home } = this
    const traced = { home: (): string => home.call(this) }.home
    for (const key of Reflect.getMetadataKeys(home)) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, home), traced)
    }
    this.home = traced
  }

  @Get()
  @RateLimit({ name: 'traced', limit: 2, window: '1m' })
  home(): string {
    return 'traced'
  }
}

async function behindCap(platform: Platform, visit: (site: Site, watcher: Watcher) => Promise<void>): Promise<void> {
  const watcher = new Watcher()
  const limits = SluiceModule.forRoot({ inflightLimit: { limit: 100 }, observers: [watcher] })
  const prepare = (app: INestApplication): void => {
    mostListeners = 0
    app.getHttpServer().keepAliveTimeout = 0
  }
  const options = { imports: [limits], controllers: [Home, Scoped, Traced], providers: [PerRequest], prepare }
  await onSite(platform, options, (site) => visit(site, watcher))
}

for (const platform of platforms) {
  describe(`keep-alive connections, Nest ${process.env.NEST} on ${platform}`, () => {
    test(`have a constant number of listeners over ${REQUESTS} requests`, () =>
      behindCap(platform, async ({ port }, watcher) => {
        const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })
        let left = REQUESTS
        const visitor = async (): Promise<void> => {
          while (left-- > 0) await asked(port, agent)
        }
        await Promise.all(Array.from({ length: SOCKETS }, visitor))
        agent.destroy()
        await until(() => watcher.held === 0)
        assert.deepEqual([watcher.acquired, watcher.released, watcher.fewestHeld], [REQUESTS, REQUESTS, 0])
        assert.ok(mostListeners <= MAX_LISTENERS, `${mostListeners} listeners`)
      }))

    for (const [what, text] of Object.entries({
      'pipelined requests': GET + GET,
      'HEAD and GET': `${GET.replace('GET', 'HEAD')}${GET}`,
      'a request and one of HTTP/1.0': `${GET}GET / HTTP/1.0\r\n\r\n`,
    })) {
      test(`release the permits of ${what}`, () =>
        behindCap(platform, async ({ port }, watcher) => {
          const client = await RawClient.to(port)
          client.send(text)
          await client.hears(' 200 OK', 2)
          await until(() => watcher.released === 2)
          assert.deepEqual([watcher.acquired, watcher.fewestHeld], [2, 0])
          client.leave()
        }))
    }

    test('work with request-scoped controllers, which share their limits', () =>
      behindCap(platform, async ({ statuses }) => {
        assert.deepEqual(await statuses('/scoped', '/scoped', '/scoped'), [200, 200, 429])
      }))

    test('share their limits even if each request has its own handler function', () =>
      behindCap(platform, async ({ statuses }) => {
        assert.deepEqual(await statuses('/traced', '/traced', '/traced'), [200, 200, 429])
      }))
  })
}

function asked(port: number, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, agent }, (response) => response.resume().once('end', resolve)).once('error', reject)
  })
}
