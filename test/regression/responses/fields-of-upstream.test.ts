import { type IncomingMessage, request } from 'node:http'
import { connect, createServer as createHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import * as ofExpress from '@sluice/express'
import * as ofFastify from '@sluice/fastify'
import * as ofFetch from '@sluice/fetch'
import * as ofHono from '@sluice/hono'
import type { RunningApp } from '@sluice/testkit'
import express from 'express'
import { type FastifyInstance, fastify } from 'fastify'
import { Hono } from 'hono'
import { proxy } from 'hono/proxy'
import { express4 } from '../../adapters/express/express4.ts'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { running } from '../../adapters/running-app.ts'
import type { Handler } from '../../leaks/frameworks/framework.ts'
import { frameworks } from '../../leaks/frameworks/frameworks.ts'
import { overHttp2 } from '../../leaks/frameworks/http2-site.ts'
import { endedAfterEach } from '../../services/for-tests.ts'

/** Fields of the limits of an upstream: of two drafts, of clients of language models, and of a vendor. */
const FIELDS = {
  'RateLimit-Policy': '"theirs";q=7;w=9',
  'X-RateLimit-Limit': '7',
  'X-RateLimit-Remaining': '6',
  'x-ratelimit-remaining-tokens': '5',
  'anthropic-ratelimit-requests-limit': '4',
  'X-Rate-Limit-Reset': '3',
}
const OTHERS = { 'X-Other': 'kept', 'Set-Cookie': ['a=1', 'b=2'] }

const open = endedAfterEach<RunningApp>((app) => app.close())
let upstream: RunningApp
beforeAll(async () => {
  upstream = await running((req, res) => {
    res.writeHead(Number(req.url?.slice(1)), { ...FIELDS, ...OTHERS, 'Retry-After': '30' }).end('upstream')
  })
})
afterAll(() => upstream.close())

type Fields = Readonly<Record<string, string>>
type Options = { readonly headers?: 'draft' | 'legacy' | 'none'; readonly headersOn?: 'denied' }
const limits = (options: Options) => ({ limit: 100, window: '1m', key: () => 'all', ...options }) as const

/** Returns the fields of limits in a response, and the other ones. */
function fieldsOf(headers: Iterable<readonly [string, unknown]>): { ours: Fields; others: Fields } {
  const all = [...headers].map(([name, value]) => [name.toLowerCase(), String(value)] as const)
  const isLimit = ([name]: readonly [string, string]): boolean => /rate-?limit/.test(name)
  return {
    ours: Object.fromEntries(all.filter(isLimit)),
    others: Object.fromEntries(all.filter((field) => !isLimit(field))),
  }
}

async function get(port: number, path: string): Promise<ReturnType<typeof fieldsOf>> {
  const { headers, text } = await fetch(`http://127.0.0.1:${port}${path}`).then(async (response) => ({
    headers: response.headers,
    text: await response.text(),
  }))
  expect(text).toBe('upstream')
  expect(headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  return fieldsOf(headers)
}

const theirs = Object.fromEntries(Object.entries(FIELDS).map(([name, value]) => [name.toLowerCase(), value]))
const draft = { 'ratelimit-policy': '"default";q=100;w=60', ratelimit: '"default";r=99;t=60' }

/** What a client receives for each kind of limit and each response of the upstream. */
function statesTheRule(serve: (options: Options) => Promise<number>): void {
  test.each<[string, Options, string, Fields]>([
    ['the limit replaces the fields of the upstream', {}, '/200', draft],
    ['a failure of the upstream shows the fields of the limit', {}, '/500', draft],
    ['a denial of the upstream keeps the fields of the upstream', {}, '/429', theirs],
    ['an overload of the upstream keeps the fields of the upstream', {}, '/503', theirs],
    ['a limit without fields passes the fields of the upstream', { headers: 'none' }, '/200', theirs],
    ['a limit with fields on denials only passes the fields of the upstream', { headersOn: 'denied' }, '/200', theirs],
  ])('%s', async (_title, options, path, expected) => {
    const { ours, others } = await get(await serve(options), path)
    expect(ours).toEqual(expected)
    expect(others).toMatchObject({ 'x-other': 'kept', 'retry-after': '30' })
  })

  test('the fields of a limit are one set in another dialect, too', async () => {
    const { ours } = await get(await serve({ headers: 'legacy' }), '/200')
    expect(ours).toEqual({
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '99',
      'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
    })
  })
}

const ask = (path: string, answer: (response: IncomingMessage) => void): void =>
  void request({ port: Number(upstream.port), host: '127.0.0.1', path }, answer).end()

/** The headers that a proxy passes on. */
function endToEnd({ headers }: IncomingMessage): Record<string, string | string[]> {
  const { connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...rest } = headers
  return rest as Record<string, string | string[]>
}

/** Ways in which proxies for Node.js write the head of a response. */
const proxies: Readonly<Record<string, Handler>> = {
  // http-proxy, http-proxy-middleware
  setHeader: (req, res) =>
    ask(req.url as string, (from) => {
      for (const [name, value] of Object.entries(endToEnd(from))) res.setHeader(name, value)
      res.statusCode = from.statusCode as number
      from.pipe(res)
    }),
  setHeaders: (req, res) =>
    ask(req.url as string, (from) => {
      res.setHeaders(new Map(Object.entries(endToEnd(from)) as [string, string][]))
      res.statusCode = from.statusCode as number
      from.pipe(res)
    }),
  // the policy of ours and that of the upstream become one list
  appendHeader: (req, res) =>
    ask(req.url as string, (from) => {
      for (const [name, value] of Object.entries(endToEnd(from))) res.appendHeader(name, value)
      res.statusCode = from.statusCode as number
      from.pipe(res)
    }),
  writeHead: (req, res) =>
    ask(req.url as string, (from) => {
      res.writeHead(from.statusCode as number, endToEnd(from))
      from.pipe(res)
    }),
  'writeHead with a message': (req, res) =>
    ask(req.url as string, (from) => {
      res.writeHead(from.statusCode as number, 'a message of the upstream', endToEnd(from))
      from.pipe(res)
    }),
}

describe.each(Object.entries(frameworks))('behind %s', (name, { rateLimit, listener }) => {
  describe.each(Object.entries(proxies))('a proxy that calls %s', (_way, handler) => {
    statesTheRule(async (options) => {
      const app = await running(listener(rateLimit(limits(options)), handler))
      open.push(app)
      return app.port
    })
  })

  test('names in an array, as a proxy passes raw headers, are one set', async () => {
    const handler: Handler = (_req, res) => void res.writeHead(200, Object.entries(FIELDS).flat()).end()
    const app = await running(listener(rateLimit(limits({})), handler))
    open.push(app)
    const response = await fetch(`http://127.0.0.1:${app.port}/`)
    expect(fieldsOf(response.headers).ours).toEqual(draft)
  })

  test('the fields are those of the last limit, and of all limits before it', async () => {
    const second = rateLimit({ ...limits({ headers: 'legacy' }), name: 'second', limit: 9 })
    const app = await running(listener(rateLimit(limits({})), second, proxies.setHeader))
    open.push(app)
    const { ours } = await get(app.port, '/200')
    expect(ours).toMatchObject({ ...draft, 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '8' })
    expect(Object.keys(ours)).toHaveLength(5)
  })

  test('a field that the application removed is not added', async () => {
    const handler: Handler = (_req, res) => {
      res.removeHeader('RateLimit')
      res.end()
    }
    if (name.startsWith('Fastify')) return // its reply sets the headers after the handler
    const app = await running(listener(rateLimit(limits({})), handler))
    open.push(app)
    const { headers } = await fetch(`http://127.0.0.1:${app.port}/`)
    expect(fieldsOf(headers).ours).toEqual({ 'ratelimit-policy': draft['ratelimit-policy'] })
  })

  if (!overHttp2.includes(name)) return
  test.each(['setHeader', 'writeHead'])('a proxy over HTTP/2 that calls %s sends one set', async (way) => {
    const steps = listener(rateLimit(limits({})), proxies[way])
    const server = createHttp2(steps as never).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const stream = session.request({ ':path': '/200' })
    const headers = await new Promise<object>((resolve) => stream.once('response', resolve))
    session.destroy()
    server.close()
    expect(fieldsOf(Object.entries(headers)).ours).toEqual(draft)
  })
})

describe.each<[string, () => FastifyInstance]>([
  ['Fastify 5', fastify as never],
  ['Fastify 4', fastify4 as never],
])('behind the plugin of %s', (_name, make) => {
  describe.each<[string, (body: IncomingMessage) => unknown]>([
    ['a stream, as @fastify/http-proxy does', (body) => body],
    ['a text', () => 'upstream'],
  ])('a proxy that sends %s', (_way, bodyOf) => {
    statesTheRule(async (options) => {
      const app = make()
      await app.register(ofFastify.sluice, { rateLimit: limits(options) })
      app.get('/:status', (req, reply) =>
        ask(req.url, (from) => {
          reply.code(from.statusCode as number).headers(endToEnd(from))
          void reply.send(bodyOf(from))
        }),
      )
      await app.listen({ port: 0, host: '127.0.0.1' })
      open.push({ port: 0, close: () => app.close() } as RunningApp)
      return (app.server.address() as AddressInfo).port
    })
  })
})

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('in an application mounted in %s', (_name, make) => {
  statesTheRule(async (options) => {
    const inner = make()
    inner.use(ofExpress.rateLimit(limits(options)))
    const outer = make()
    outer.use(inner)
    // the mounted application has passed the request on
    outer.use(proxies.setHeader as never)
    const app = await running(outer)
    open.push(app)
    return app.port
  })
})

describe('behind Hono', () => {
  statesTheRule(async (options) => {
    const app = new Hono()
    app.use(ofHono.rateLimit(limits(options)))
    app.get('/:status', (c) => proxy(`http://127.0.0.1:${upstream.port}${c.req.path}`))
    const site = await running(getRequestListener(app.fetch))
    open.push(site)
    return site.port
  })
})

describe('behind a handler that returns the response of fetch', () => {
  statesTheRule(async (options) => {
    const handler = ofFetch
      .rateLimit(limits(options))
      .wrap((req: Request) => fetch(`http://127.0.0.1:${upstream.port}${new URL(req.url).pathname}`))
    const site = await running(getRequestListener(handler))
    open.push(site)
    return site.port
  })
})

test('two limits around a handler of fetch send the fields of both in place of the fields of an upstream', async () => {
  const outer = ofFetch.rateLimit({ ...limits({}), name: 'outer' })
  const inner = ofFetch.rateLimit({ ...limits({ headers: 'legacy' }), name: 'inner', limit: 9 })
  const upstreamResponse = (): Response => new Response('', { headers: FIELDS })
  const { headers } = await outer.wrap(inner.wrap(upstreamResponse))(new Request('https://api.example/'))
  expect(fieldsOf(headers).ours).toMatchObject({ ratelimit: '"outer";r=99;t=60', 'x-ratelimit-remaining': '8' })
  expect(Object.keys(fieldsOf(headers).ours)).toHaveLength(5)
})
