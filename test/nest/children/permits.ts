import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInflightLimiter, type Permit } from '@sluice/nest'
import { FakeClock, until } from '@sluice/testkit'
import { GET, RawClient } from '../../leaks/raw-client.ts'
import { at, behindCap } from '../behind-cap.ts'
import { platforms } from '../nest-app.ts'

/** Fields of the body of a denial. */
interface Problem {
  readonly 'violated-policies': readonly string[]
}

const ordinary: Readonly<Record<string, [path: string, status: number]>> = {
  'that is answered': ['/ok', 200],
  'whose handler throws': ['/throws', 500],
  'whose observable fails': ['/fails', 500],
  'whose observable emits nothing': ['/nothing', 500],
  'that is streamed': ['/stream', 200],
  'that its handler answers directly': ['/raw', 200],
}

for (const platform of platforms) {
  describe(`a permit, Nest ${process.env.NEST} on ${platform}, is released exactly once`, () => {
    for (const holdUntil of ['response', 'handler'] as const) {
      for (const [what, [path, status]] of Object.entries(ordinary)) {
        test(`of a request ${what}, held until the ${holdUntil}`, () =>
          behindCap(platform, { holdUntil }, async ({ site, allBack }) => {
            assert.deepEqual(await site.statuses(path, path), [status, status])
            await allBack(2)
          }))
      }

      test(`of events whose client disconnects, held until the ${holdUntil}`, () =>
        behindCap(platform, { holdUntil }, async ({ entering, allBack, watcher }) => {
          const client = await entering('/events')
          await client.hears('tick', 3)
          assert.equal(watcher.held, 1)
          client.leave()
          await allBack(1)
          await until(() => at.running === 0)
        }))

      test(`of a stream whose client disconnects, held until the ${holdUntil}`, () =>
        behindCap(platform, { holdUntil }, async ({ entering, allBack }) => {
          const client = await entering('/endless')
          client.leave()
          await allBack(1)
        }))
    }

    test('and a stream of events without a free permit is denied like any other route', () =>
      behindCap(platform, { limit: 1 }, async ({ site, entering, allBack }) => {
        const client = await entering('/events')
        await client.hears('tick')
        const denied = await site.ask('/events', { headers: { accept: 'text/event-stream' } })
        assert.equal(denied.status, 503)
        assert.equal(denied.headers.get('content-type'), 'application/problem+json')
        assert.deepEqual(((await denied.json()) as Problem)['violated-policies'], ['inflight'])
        client.leave()
        await allBack(1)
      }))

    test('of pipelined requests, when their client disconnects before their turn', () =>
      behindCap(platform, { holdUntil: 'handler' }, async ({ site, allBack }) => {
        const client = await RawClient.to(site.port)
        client.send(GET.replace('/', '/piped').repeat(3))
        await until(() => at.entered === 3, { what: 'all requests to reach their handler' })
        client.leave()
        await allBack(3)
      }))

    test('of an observable that never ends, when its client disconnects', () =>
      behindCap(platform, {}, async ({ entering, allBack }) => {
        const client = await entering('/never')
        client.leave()
        await allBack(1)
      }))

    test('of an observable that never ends, with holdUntil handler, after maxHoldMs', async () => {
      const clock = new FakeClock()
      await behindCap(
        platform,
        { holdUntil: 'handler', maxHoldMs: '1m', clock },
        async ({ entering, allBack, watcher }) => {
          const client = await entering('/never')
          client.leave()
          await client.closed()
          assert.equal(watcher.held, 1)
          clock.advance(60_000)
          await allBack(1)
        },
      )
    })

    test('of a handler that waits for work, after that work is done', () =>
      behindCap(platform, {}, async ({ site, allBack, watcher }) => {
        assert.deepEqual(await site.statuses('/held'), [200])
        assert.equal(watcher.held, 1)
        for (const finish of at.waiting) finish()
        await allBack(1)
      }))

    test('if it is granted after the client has disconnected', async () => {
      const local = createInflightLimiter({ limit: 1 })
      const asked: ((permit: Permit) => void)[] = []
      const backend = { acquire: () => new Promise<Permit>((resolve) => asked.push(resolve)) }
      await behindCap(platform, { backend, observers: [] }, async ({ site }) => {
        const client = await RawClient.to(site.port)
        client.send(GET.replace('/', '/work'))
        await until(() => asked.length === 1)
        client.leave()
        await client.closed()
        // a request that is answered after its client has disconnected
        await site.ask('/nowhere')
        asked[0](local.acquire() as Permit)
        await until(() => local.count() === 0)
        assert.equal(at.entered, 0)
      })
    })
  })

  describe(`a flood of disconnecting clients, Nest ${process.env.NEST} on ${platform},`, () => {
    const FLOOD = 20

    test('runs no more handlers than permits if the cap waits for the handler', () =>
      behindCap(platform, { limit: 2, holdUntil: 'handler' }, async ({ site, watcher, allBack }) => {
        for (let sent = 1; sent <= FLOOD; sent++) {
          const client = await RawClient.to(site.port)
          client.send(GET.replace('/', '/work'))
          await until(() => watcher.acquired + watcher.denied === sent)
          client.leave()
          await client.closed()
        }
        await until(() => at.entered === 2)
        assert.deepEqual([at.mostRunning, watcher.denied, watcher.held], [2, FLOOD - 2, 2])
        for (const finish of at.waiting) finish()
        await allBack(2)
      }))

    test('runs more handlers if the cap waits only for responses, as documented', () =>
      behindCap(platform, { limit: 2 }, async ({ entering, watcher }) => {
        for (let sent = 1; sent <= FLOOD; sent++) {
          const client = await entering('/work')
          client.leave()
          await until(() => watcher.released === sent)
        }
        assert.deepEqual([at.mostRunning, watcher.mostHeld], [FLOOD, 1])
      }))
  })
}
