import { METHODS } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { byRoute, rateLimit } from '@sluice/express'
import express, { type Express, type RequestHandler } from 'express'
import { type Asked, askForStatus } from '../../adapters/ask-for-status.ts'
import { express4 } from '../../adapters/express/express4.ts'
import { running } from '../../adapters/running-app.ts'

const twice = { limit: 2, window: '1m', key: byRoute() } as const
const ok: RequestHandler = (_req, res) => {
  res.send('ok')
}
// a CONNECT is not a request to an application
const methods = METHODS.filter((method) => method !== 'CONNECT')

async function passed(app: Express, asked: readonly Asked[]): Promise<number> {
  const { port, close } = await running(app)
  let passes = 0
  for (const one of asked) if ((await askForStatus(port, one)) === 200) passes++
  await close()
  return passes
}

function paths(of: (index: number) => string): Asked[] {
  return Array.from({ length: 50 }, (_, index) => ({ path: of(index) }))
}

describe.each([
  ['Express 4', express4],
  ['Express 5', express],
])('%s', (_version, make) => {
  test.each<[string, string | RegExp | readonly (string | RegExp)[]]>([
    ['a parameter', '/teams/:team'],
    ['a regular expression', /^\/teams\/[^/]+/],
    ['one of several paths', ['/groups/:group', '/teams/:team', /^\/t/]],
  ])('counts every value of a mount path that is %s together', async (_what, mount) => {
    const app = make()
    const router = make.Router()
    router.get('/members/:id', rateLimit(twice), ok)
    app.use(mount as string, router)
    expect(
      await passed(
        app,
        paths((index) => `/teams/t${index}/members/7`),
      ),
    ).toBe(2)
  })

  test('counts every value of a mount path together if the caller of the router is unknown', async () => {
    const app = make()
    const router = make.Router()
    router.get('/members/:id', rateLimit(twice), ok)
    app.use('/teams/:team', (req, res, next) => router(req, res, next))
    expect(
      await passed(
        app,
        paths((index) => `/teams/t${index}/members/7`),
      ),
    ).toBe(2)
  })

  test('counts every value of the mount path of an application together', async () => {
    const app = make()
    const part = make()
    const router = make.Router()
    router.get('/:id', rateLimit(twice), ok)
    app.use('/teams/:team', part.use('/rooms/:room', router))
    expect(
      await passed(
        app,
        paths((index) => `/teams/t${index}/rooms/r${index}/7`),
      ),
    ).toBe(2)
  })

  test('counts a router that is mounted twice, even within itself, as one', async () => {
    const app = make()
    const router = make.Router()
    router.get('/:id', rateLimit(twice), ok)
    router.use('/in', router)
    app.use('/a', router).use('/b', router)
    expect(
      await passed(
        app,
        ['/a/1', '/b/1', '/a/in/1', '/b/in/in/1'].map((path) => ({ path })),
      ),
    ).toBe(2)
  })

  test.each(['written', 'that can no longer be found'])('separates mounts with patterns %s', async (known) => {
    const app = make()
    const limit = rateLimit(twice)
    for (const mount of ['/users', '/posts', '/:other']) {
      const router = make.Router()
      router.get('/:id', limit, ok)
      app.use(mount, router)
    }
    const { stack } = (app as unknown as { _router?: Stacked; router: Stacked })[
      make === express4 ? '_router' : 'router'
    ] as Stacked
    // like Express 5.0 to 5.2, which keep no pattern
    if (known !== 'written') for (const layer of stack) Reflect.deleteProperty(layer, 'rawPath')
    expect(
      await passed(
        app,
        paths((index) => `/users/${index}`),
      ),
    ).toBe(2)
    expect(
      await passed(
        app,
        paths((index) => `/posts/${index}`),
      ),
    ).toBe(2)
    expect(
      await passed(
        app,
        paths((index) => `/o${index}/${index}`),
      ),
    ).toBe(2)
  })

  test.each(['app.all', 'router.all', 'route.all'])('counts all methods of %s together', async (how) => {
    const app = make()
    const limit = rateLimit(twice)
    const router = make.Router()
    if (how === 'app.all') app.all('/a', limit, ok)
    else if (how === 'router.all') app.use(router.all('/a', limit, ok))
    else app.route('/a').all(limit).get(ok).post(ok).all(ok)
    const asked = methods.flatMap((method) => [
      { method, path: '/a' },
      { method, path: '/A/' },
    ])
    expect(await passed(app, asked)).toBe(2)
  })
})

interface Stacked {
  readonly stack: readonly object[]
}
