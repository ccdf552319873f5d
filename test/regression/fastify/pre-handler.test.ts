import { describe, expect, test } from '@jest/globals'
import { type FastifyRouteLimits, sluice } from '@sluice/fastify'
import { FakeClock, until, Warnings, Watcher } from '@sluice/testkit'
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import { limited, limits, type Make, opened } from '../../adapters/fastify/fastify-injected.ts'

interface OfUser extends FastifyRequest {
  user?: string
}

const ONCE = { limit: 1, window: '1m', key: (request: object) => (request as OfUser).user } as const
const LATE: FastifyRouteLimits = { phase: 'preHandler' }

async function findsUser(request: OfUser): Promise<void> {
  request.user = request.headers['x-user'] as string
}

/** Statuses for two users who send requests in turn. */
async function asked(app: FastifyInstance, url = '/'): Promise<number[]> {
  const all: number[] = []
  for (const name of ['ann', 'bob', 'ann', 'bob']) {
    all.push((await app.inject({ url, headers: { 'x-user': name } })).statusCode)
  }
  return all
}

const EACH_ONCE = [200, 200, 429, 429]

/** Places for the user's hook that identifies the client, all after the plugin. */
const HOOKS: Readonly<Record<string, (app: FastifyInstance) => unknown>> = {
  'by a hook that is added before the route': (app) => {
    app.addHook('preHandler', findsUser)
    app.get('/', async () => 'ok')
  },
  'by a hook that is added after the route': (app) => {
    app.get('/', async () => 'ok')
    app.addHook('preHandler', findsUser)
  },
  'by a hook of the route': (app) => app.get('/', { preHandler: findsUser }, async () => 'ok'),
  'by several hooks of the route': (app) => app.get('/', { preHandler: [async () => {}, findsUser] }, async () => 'ok'),
  'by a hook of a child scope': (app) =>
    app.register(async (child) => {
      child.get('/', async () => 'ok')
      child.addHook('preHandler', findsUser)
    }),
  'by a plugin that adds hooks to routes': (app) => {
    app.addHook('onRoute', (route) => {
      route.preHandler = [route.preHandler ?? [], findsUser].flat()
    })
    app.get('/', async () => 'ok')
  },
}

describe.each([
  ['5', fastify],
  ['4', fastify4 as unknown as typeof fastify],
])('limits of Fastify %s that run as preHandler', (_version, make) => {
  const app: Make = opened(make)
  const late = (options: object = {}) => limited(app(), { phase: 'preHandler', rateLimit: ONCE, ...options })

  test.each(Object.entries(HOOKS))('can use what was set %s', async (_where, add) => {
    const warnings = new Warnings()
    warnings.listen()
    const made = await late()
    await add(made)
    expect(await asked(made)).toEqual(EACH_ONCE)
    warnings.stop()
    expect(warnings.codes).toEqual([])
  })

  test('of a single route and of a plugin scope', async () => {
    const made = await limited(app(), {})
    made.get('/', limits({ ...LATE, rateLimit: ONCE }), async () => 'ok')
    await made.register(async (child) => {
      await child.register(sluice, { phase: 'preHandler', rateLimit: ONCE })
      child.get('/part', async () => 'ok')
    })
    made.addHook('preHandler', findsUser)
    expect(await asked(made)).toEqual(EACH_ONCE)
    expect(await asked(made, '/part')).toEqual(EACH_ONCE)
  })

  test('run once: for a GET and its HEAD, for a prefix with and without its slash, and after callNotFound', async () => {
    const watcher = new Watcher()
    const made = await late({ rateLimit: { limit: 9, window: '1m', observers: [watcher] } })
    made.get('/', { preHandler: findsUser }, async () => 'ok')
    made.get('/gone', async (_request, reply) => reply.callNotFound())
    made.get('/hidden', { preHandler: async (_request, reply) => reply.callNotFound() }, async () => 'never')
    await made.register(async (child) => void child.get('/', async () => 'ok'), { prefix: '/part' })
    const seen: [number, number][] = []
    for (const [method, url] of [
      ['GET', '/'],
      ['HEAD', '/'],
      ['GET', '/part'],
      ['GET', '/part/'],
      ['GET', '/gone'],
      ['GET', '/hidden'],
      ['GET', '/nowhere'],
    ] as const) {
      const before = watcher.decisions.length
      seen.push([(await made.inject({ method, url })).statusCode, watcher.decisions.length - before])
    }
    expect(seen).toEqual([
      [200, 1],
      [200, 1],
      [200, 1],
      [200, 1],
      [404, 1],
      [404, 1],
      [404, 1],
    ])
  })

  test('deny before the handler runs, even if the backend answers later', async () => {
    let ran = 0
    const key = async (request: object) => (request as OfUser).user
    const made = await late({ rateLimit: { ...ONCE, key } })
    made.get('/', async () => {
      ran++
      return 'ok'
    })
    made.addHook('preHandler', findsUser)
    expect(await asked(made)).toEqual(EACH_ONCE)
    expect(ran).toBe(2)
  })

  test('hold permits as long as in other phases: until the response ends or the handler is done', async () => {
    for (const holdUntil of ['response', 'handler'] as const) {
      const made = await late({ rateLimit: undefined, inflightLimit: { limit: 1, holdUntil } })
      let open = (): void => {}
      const opens = new Promise<void>((resolve) => {
        open = resolve
      })
      let entered = 0
      made.get('/', async () => {
        entered++
        await opens
        return 'ok'
      })
      const first = made.inject('/')
      await until(() => entered === 1)
      expect((await made.inject('/')).statusCode).toBe(503)
      open()
      expect((await first).statusCode).toBe(200)
      expect((await made.inject('/')).statusCode).toBe(200)
    }
  })

  test('delay requests, and show handlers the counts', async () => {
    const clock = new FakeClock()
    const slowDown = { after: 1, window: '1m', delayMs: 100, maxDelayMs: 100, clock } as const
    const made = await late({ slowDown, rateLimit: { limit: 9, window: '1m', clock } })
    made.get('/', async (request) => request.sluice?.decision?.binding.remaining)
    expect((await made.inject('/')).body).toBe('8')
    const slow = made.inject('/')
    await until(() => clock.pending === 1)
    clock.advance(100)
    expect((await slow).body).toBe('7')
  })
})
