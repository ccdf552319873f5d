import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { createSluice, inflightLimit, rateLimit } from '@sluice/express'
import { type Answer, type Backend, memoryBackend } from '@sluice/limiter-core'
import { FakeClock, parseList } from '@sluice/testkit'
import express, { type Express } from 'express'
import { endedAfterEach } from '../../services/for-tests.ts'

const servers = endedAfterEach<Server>((server) => server.close())

interface Shown {
  readonly status: number
  readonly policies: readonly string[]
  readonly rates: readonly string[]
  readonly violated: readonly string[] | undefined
}

/** What clients see for each of several requests in turn. */
async function shown(app: RequestListener, ...paths: readonly string[]): Promise<Shown[]> {
  const server = createServer(app).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const all: Shown[] = []
  for (const path of paths) {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
    const named = (field: string) =>
      parseList(answer.headers.get(field) ?? '').map(({ name, params }) => `${name} ${params.q ?? params.r}`)
    const body = await answer.text()
    all.push({
      status: answer.status,
      policies: named('ratelimit-policy'),
      rates: named('ratelimit'),
      violated: answer.status < 400 ? undefined : JSON.parse(body)['violated-policies'],
    })
  }
  return all
}

const clock = new FakeClock()
const once1m = { window: '1m', algorithm: 'fixed-window', clock } as const

function ends(app: Express): Express {
  app.use((_req, res) => {
    res.send('ok')
  })
  return app
}

describe('two limiters without a name on one request', () => {
  const app = ends(
    express()
      .use(rateLimit({ ...once1m, limit: 9 }))
      .use('/login', rateLimit({ ...once1m, limit: 1 })),
  )

  test('have distinct names in each header field and in a denial', async () => {
    const [first, other, denied] = await shown(app, '/login', '/', '/login')
    expect(first).toMatchObject({ policies: ['default 9', 'default-2 1'], rates: ['default 8', 'default-2 0'] })
    expect(other).toMatchObject({ policies: ['default 9'], rates: ['default 7'] })
    expect(denied).toEqual({
      status: 429,
      policies: ['default 9', 'default-2 1'],
      rates: ['default-2 0'],
      violated: ['default-2'],
    })
  })
})

test('a limiter keeps its name if the one before it did not count the request', async () => {
  const app = ends(
    express()
      .use(rateLimit({ ...once1m, limit: 9, skip: (req) => req.query.skip !== undefined }))
      .use(rateLimit({ ...once1m, limit: 5 })),
  )
  const [counted, skipped] = await shown(app, '/', '/?skip')
  expect(counted.policies).toEqual(['default 9', 'default-2 5'])
  expect(skipped.policies).toEqual(['default-2 5'])
})

test('no limiter gets the name of another one, and a name may contain any character', async () => {
  const odd = 'a", "b\\'
  const app = ends(
    express()
      .use(rateLimit({ ...once1m, limit: 9, name: `${odd}-2`, unit: odd }))
      .use(rateLimit({ ...once1m, limit: 8, name: odd, unit: odd }))
      .use(rateLimit({ ...once1m, limit: 7, name: odd, unit: odd })),
  )
  const [{ policies }] = await shown(app, '/')
  expect(policies).toEqual([`${odd}-2 9`, `${odd} 8`, `${odd}-3 7`])
})

test('caps with the same name, and a cap named like a policy, get distinct names, too', async () => {
  const app = ends(
    express()
      .use(rateLimit({ ...once1m, limit: 9, name: 'report' }))
      .use(inflightLimit({ name: 'report', limit: 5 }))
      .use(inflightLimit({ name: 'report', limit: 1, weight: () => 2 })),
  )
  const [{ status, policies, rates, violated }] = await shown(app, '/')
  expect({ status, rates, violated }).toEqual({ status: 503, rates: ['report-3 0'], violated: ['report-3'] })
  expect(policies).toEqual(['report 9', 'report-3 1'])
})

describe('on a backend from the options', () => {
  test('two routes of 3 a minute without a name are rejected, and named routes have 3 each', async () => {
    const backend: Backend<Answer> = memoryBackend({ clock })
    const sluice = createSluice({ backend, clock })
    const app = express()
    app.get('/a', sluice.rateLimit({ limit: 3, window: '1m' }))
    expect(() => app.get('/b', sluice.rateLimit({ limit: 3, window: '1m' }))).toThrow('SLUICE_UNNAMED_LIMITER')
    app.get('/b', sluice.rateLimit({ name: 'b', limit: 3, window: '1m' }))
    ends(app)
    const all = await shown(app, '/a', '/a', '/a', '/a', '/b', '/b', '/b', '/b')
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 429, 200, 200, 200, 429])
  })
})
