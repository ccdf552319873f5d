import { describe, expect, test } from '@jest/globals'
import { createSluice, inflightLimit, rateLimit, shed, slowDown } from '@sluice/hono'
import { Hono, type MiddlewareHandler } from 'hono'
import { hc } from 'hono/client'
import { every } from 'hono/combine'
import { createFactory } from 'hono/factory'

interface Env {
  Bindings: { readonly KV: { get(key: string): string } }
  Variables: { user: number }
}
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Fails to compile if the type of the value is not exactly `T`; `any` is not. */
const typed = <T>() => ({ is: <U>(value: U, _same: Same<T, U>): U => value })

const env = { KV: { get: (key: string) => `value of ${key}` } }
const once = { limit: 9, window: '1m' } as const
/** Every limit, with a distinct name because some are used together. */
const limits = (name: string) => ({
  rate: rateLimit({ ...once, name }),
  cap: inflightLimit({ limit: 9, name }),
  slow: slowDown({ after: 9, window: '1m', delayMs: 1, maxDelayMs: 1, name }),
  shed: shed({ name, eventLoopDelayMs: 60_000 }),
  shared: createSluice({}).rateLimit({ ...once, name: `shared ${name}` }),
})

describe.each(Object.keys(limits('names')))('behind the limit %s, the context keeps its type', (kind) => {
  const limit = limits(kind)[kind as keyof ReturnType<typeof limits>]
  test('in each way to declare a route', async () => {
    const app = new Hono<Env>()
    const read = typed<(key: string) => string>()
    const user = typed<number>()
    app.use((c, next) => {
      c.set('user', 7)
      return next()
    })
    app.get('/get', limit, (c) => c.text(read.is(c.env.KV.get, true)('get') + user.is(c.get('user'), true)))
    app.all('/all', limit, (c) => c.text(read.is(c.env.KV.get, true)('all') + user.is(c.get('user'), true)))
    app.on('GET', '/on', limit, (c) => c.text(read.is(c.env.KV.get, true)('on') + user.is(c.get('user'), true)))
    app.on('GET', ['/a', '/b'], limit, (c) =>
      c.text(read.is(c.env.KV.get, true)('list') + user.is(c.get('user'), true)),
    )
    app.on(['GET', 'PUT'], '/m', limit, (c) => c.text(read.is(c.env.KV.get, true)('m') + user.is(c.get('user'), true)))
    app.on(['GET', 'PUT'], ['/x', '/y'], limit, (c) =>
      c.text(read.is(c.env.KV.get, true)('both') + user.is(c.get('user'), true)),
    )
    const bodies: string[] = []
    for (const path of ['/get', '/all', '/on', '/a', '/b', '/m', '/x', '/y'])
      bodies.push(await (await app.request(path, {}, env)).text())
    const names = ['get', 'all', 'on', 'list', 'list', 'm', 'both', 'both']
    expect(bodies).toEqual(names.map((name) => `value of ${name}7`))
  })
})

test('a limit is middleware of any context', async () => {
  const limit = rateLimit(once)
  const plain: MiddlewareHandler = limit
  const ofEnv: MiddlewareHandler<Env, '/:id'> = limit
  const handlers = createFactory<Env>().createHandlers(ofEnv, (c) => c.json({ value: c.env.KV.get('a') }))
  const app = new Hono<Env>()
  const routes = app
    .use('/never/*', plain, every(limit))
    .get('/:id', rateLimit({ ...once, name: 'json' }), (c) =>
      c.json({ id: typed<string>().is(c.req.param('id'), true) }),
    )
    .get('/handlers', ...handlers)
  // the client keeps the type of the response
  const client = hc<typeof routes>('http://localhost', { fetch: app.request as never })
  const body = await (await client[':id'].$get({ param: { id: '5' } })).json()
  expect(typed<string>().is(body.id, true)).toBe('5')
  // @ts-expect-error: the response has no such field
  expect(body.other).toBeUndefined()
})
