import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Controller, Get, type INestApplication, type INestMicroservice } from '@nestjs/common'
import { EventPattern, MessagePattern, type MicroserviceOptions, Payload, type TcpContext } from '@nestjs/microservices'
import { InflightLimit, memoryBackend, RateLimit, SluiceModule, type SluiceModuleOptions } from '@sluice/nest'
import { FakeClock, until, Watcher } from '@sluice/testkit'
import { MessageClient, type Outcome, onService, portOf, TCP } from '../message-client.ts'
import { type Platform, platforms } from '../nest-app.ts'
import { onSite, type Site } from '../site.ts'

let handled: number[] = []
let waiting: (() => void)[] = []

@Controller()
class Orders {
  @Get()
  home(): string {
    return 'home'
  }

  @MessagePattern('order')
  order(@Payload() id: number): string {
    return `order ${id}`
  }

  @MessagePattern('report')
  report(): string {
    return 'report'
  }

  @EventPattern('created')
  created(@Payload() id: number): void {
    handled.push(id)
  }

  @Get('price')
  @MessagePattern('price')
  @RateLimit({ name: 'price', limit: 2, window: '1m', key: () => 'all' })
  price(): string {
    return 'price'
  }

  @EventPattern('paid')
  @RateLimit({ name: 'paid', limit: 2, window: '1m' })
  paid(@Payload() id: number): void {
    handled.push(id)
  }

  @MessagePattern('slow')
  @InflightLimit({ name: 'slow', limit: 1 })
  async slow(): Promise<string> {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return 'slow'
  }
}

const LIMIT = { limit: 20, window: '1m', algorithm: 'fixed-window' } as const
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
const answersOf = (outcomes: readonly Outcome[]): unknown[] => outcomes.flatMap(({ answer }) => answer ?? [])
const errorsOf = (outcomes: readonly Outcome[]): NonNullable<Outcome['error']>[] =>
  outcomes.flatMap(({ error }) => (error ? [error] : []))

/** Starts the handlers of `Orders` with these limits, without HTTP. */
function behind(
  options: SluiceModuleOptions,
  visit: (client: MessageClient, watcher: Watcher, errors: readonly Error[]) => Promise<void>,
): Promise<void> {
  const { imports, controllers, watcher } = limited(options)
  return onService({ imports, controllers }, (client, errors) => visit(client, watcher, errors))
}

/** Starts the handlers of `Orders` with HTTP and TCP, with guards and interceptors for both. */
async function hybrid(
  platform: Platform,
  options: SluiceModuleOptions,
  visit: (client: MessageClient, site: Site, watcher: Watcher) => Promise<void>,
): Promise<void> {
  const { imports, controllers, watcher } = limited(options)
  let service: INestMicroservice | undefined
  const prepare = async (app: INestApplication): Promise<void> => {
    service = app.connectMicroservice<MicroserviceOptions>(TCP, { inheritAppConfig: true })
    await app.startAllMicroservices()
  }
  await onSite(platform, { imports, controllers, prepare }, async (site) => {
    const client = new MessageClient(portOf(service as INestMicroservice))
    try {
      await visit(client, site, watcher)
    } finally {
      await client.close()
    }
  })
}

function limited(options: SluiceModuleOptions) {
  ;[handled, waiting] = [[], []]
  const watcher = new Watcher()
  // the clock stands still, so that no unit returns during a test
  const limits = SluiceModule.forRoot({ clock: new FakeClock(), ...options, observers: [watcher] })
  return { imports: [limits], controllers: [Orders], watcher }
}

describe(`a service over TCP, Nest ${process.env.NEST}`, () => {
  test('answers all messages and handles all events with a limit of the module, which counts HTTP requests only', () =>
    behind({ rateLimit: LIMIT, inflightLimit: { limit: 1 } }, async (client, watcher) => {
      assert.equal(answersOf(await client.sendAll(25, 'order')).length, 25)
      await client.emitAll(25, 'created')
      await until(() => handled.length === 25, { what: 'the last event' })
      assert.deepEqual(handled, numbers(25))
      assert.deepEqual([watcher.decisions.length, watcher.acquired, watcher.events], [0, 0, []])
    }))

  test('denies the messages above the limit that `contexts` has for them, with an error that says when to retry', () =>
    behind({ contexts: { rpc: { rateLimit: LIMIT } } }, async (client) => {
      const outcomes = await client.sendAll(25, 'order')
      assert.deepEqual(
        answersOf(outcomes),
        numbers(20).map((id) => `order ${id}`),
      )
      const error = { status: 'error', message: 'denied by default', code: 'SLUICE_DENIED', retryAfter: 60 }
      assert.deepEqual(errorsOf(outcomes), Array(5).fill({ ...error, violatedPolicies: ['default'] }))
    }))

  test('handles no event above the limit, and Nest 12 logs each denial', () =>
    behind({ contexts: { rpc: { rateLimit: LIMIT } } }, async (client, watcher, errors) => {
      await client.emitAll(25, 'created')
      await until(() => watcher.decisions.length === 25, { what: 'the last event' })
      const logged = process.env.NEST === '11' ? 0 : 5
      await until(() => handled.length >= 20 && errors.length >= logged, { what: 'the end of the last event' })
      assert.deepEqual(handled, numbers(20))
      assert.deepEqual(
        errors.map(({ message }) => message),
        Array(logged).fill('denied by default'),
      )
    }))

  test('counts messages and events together without a key, and each pattern with a key by pattern', async () => {
    await behind({ contexts: { rpc: { rateLimit: LIMIT } } }, async (client, watcher) => {
      await client.emitAll(15, 'created')
      await until(() => watcher.decisions.length === 15, { what: 'the last event' })
      assert.equal(answersOf(await client.sendAll(10, 'order')).length, 5)
    })
    const key = (context: TcpContext): string => context.getPattern()
    await behind({ contexts: { rpc: { rateLimit: { ...LIMIT, key } } } }, async (client, watcher) => {
      assert.equal(answersOf(await client.sendAll(25, 'order')).length, 20)
      assert.equal(answersOf(await client.sendAll(5, 'report')).length, 5)
      await client.emitAll(20, 'created')
      await until(() => watcher.decisions.length === 50 && handled.length === 20, { what: 'the last event' })
    })
  })

  test('counts clients by a key function that reads the address of their socket', () => {
    const key = (context: TcpContext): string => `${context.getSocketRef().socket.remoteAddress}`
    return behind({ contexts: { rpc: { rateLimit: { ...LIMIT, key, limit: 1 } } } }, async (client, watcher) => {
      assert.equal(answersOf(await client.sendAll(2, 'order')).length, 1)
      assert.equal(watcher.count('keyFallback'), 0)
    })
  })

  test('applies decorators to the messages and events of their handlers, with a count for each handler', () =>
    behind({}, async (client, watcher) => {
      assert.deepEqual(
        errorsOf(await client.sendAll(3, 'price')).map(({ message }) => message),
        ['denied by price'],
      )
      await client.emitAll(3, 'paid')
      await until(() => watcher.decisions.length === 6 && handled.length >= 2, { what: 'the last event' })
      assert.deepEqual(handled, [0, 1])
      assert.equal(answersOf(await client.sendAll(25, 'order')).length, 25)
    }))

  test('denies a message above a cap, and releases the permit when the handler has answered', () =>
    behind({}, async (client, watcher) => {
      const first = client.send('slow')
      await until(() => waiting.length === 1, { what: 'a message that reaches its handler' })
      assert.deepEqual((await client.send('slow')).error?.violatedPolicies, ['slow'])
      waiting[0]()
      assert.deepEqual(await first, { answer: 'slow' })
      await until(() => watcher.held === 0, { what: 'the permit of the answered message' })
      assert.deepEqual([watcher.acquired, watcher.denied], [1, 1])
    }))
})

for (const platform of platforms) {
  describe(`a hybrid application with inheritAppConfig, Nest ${process.env.NEST} on ${platform}`, () => {
    test('counts HTTP requests only by the limits of the module', () =>
      hybrid(platform, { rateLimit: { ...LIMIT, limit: 2 } }, async (client, { statuses }) => {
        assert.equal(answersOf(await client.sendAll(25, 'order')).length, 25)
        await client.emitAll(25, 'created')
        await until(() => handled.length === 25, { what: 'the last event' })
        assert.deepEqual(await statuses('/', '/', '/'), [200, 200, 429])
        assert.equal(answersOf(await client.sendAll(1, 'order')).length, 1)
      }))

    test('has counts of messages beside counts of requests, of limits on one backend and of decorators', () => {
      const rateLimit = { ...LIMIT, limit: 3, key: () => 'all' }
      const options = { backend: memoryBackend(), rateLimit, contexts: { rpc: { rateLimit } } }
      return hybrid(platform, options, async (client, { statuses }) => {
        assert.equal(answersOf(await client.sendAll(2, 'price')).length, 2)
        assert.deepEqual(errorsOf(await client.sendAll(1, 'price'))[0]?.violatedPolicies, ['price'])
        assert.deepEqual(await statuses('/price', '/price', '/price', '/', '/'), [200, 200, 429, 200, 429])
        const [, denied] = await client.sendAll(2, 'order')
        assert.deepEqual(denied.error?.violatedPolicies, ['default'])
      })
    })
  })
}
