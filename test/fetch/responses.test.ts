import { describe, expect, test } from '@jest/globals'
import { byHeader, createSluice, rateLimit } from '@sluice/fetch'
import { FakeClock } from '@sluice/testkit'

const key = byHeader('x-client')

function request(init: RequestInit = {}): Request {
  return new Request('https://api.example/', { ...init, headers: { 'x-client': 'anna', ...init.headers } })
}

function limited(respond: () => Response) {
  return rateLimit({ limit: 2, window: '1m', key }).wrap(respond)
}

describe('the response of a handler', () => {
  test('is the same object with more headers', async () => {
    const own = new Response('hello')
    expect(await limited(() => own)(request())).toBe(own)
    expect(own.headers.get('ratelimit')).toBe('"default";r=1;t=60')
  })

  test('is copied if its headers are immutable', async () => {
    const response = await limited(() => Response.redirect('https://api.example/next', 302))(request())
    expect([response.status, response.headers.get('location')]).toEqual([302, 'https://api.example/next'])
    expect(response.headers.get('ratelimit')).toBe('"default";r=1;t=60')
  })

  test('keeps the headers that the handler set', async () => {
    const response = await limited(() => new Response('', { headers: { Vary: 'own', 'Retry-After': '5' } }))(request())
    expect([response.headers.get('vary'), response.headers.get('retry-after')]).toEqual(['own', '5'])
  })

  test('is returned unchanged if it is no HTTP response', async () => {
    const failed = Response.error()
    expect(await limited(() => failed)(request())).toBe(failed)
  })
})

describe('a denial', () => {
  test('by an inner limit without headers shows no units of the outer limit', async () => {
    const outer = rateLimit({ name: 'outer', limit: 9, window: '1m', key })
    const inner = rateLimit({ name: 'inner', limit: 1, window: '1m', key, headers: 'none' })
    const handler = outer.wrap(inner.wrap(() => new Response('hello')))
    await handler(request())
    const denied = await handler(request())
    expect([denied.status, denied.headers.get('ratelimit')]).toEqual([429, null])
  })

  test('is the response that the `denied` hook returns, with the headers of the denial', async () => {
    const limit = rateLimit({
      ...{ limit: 1, window: '1m', key },
      denied: (_request, { status }, { denial }) => Response.json({ wait: denial.retryAfterSeconds }, { status }),
    })
    const handler = limit.wrap(() => new Response('hello'))
    await handler(request())
    const denied = await handler(request())
    expect([denied.status, denied.headers.get('retry-after'), await denied.json()]).toEqual([429, '60', { wait: 60 }])
  })

  test('is the default one if the hook returns nothing or fails', async () => {
    for (const denied of [() => undefined, () => Promise.reject(new Error('broken'))]) {
      const handler = rateLimit({ limit: 1, window: '1m', key, denied }).wrap(() => new Response('hello'))
      await handler(request())
      const answer = await handler(request())
      expect([answer.status, answer.headers.get('content-type')]).toEqual([429, 'application/problem+json'])
      expect(await answer.json()).toMatchObject({ status: 429 })
    }
  })
})

describe('a cost that is settled after the response', () => {
  test('is taken from the response, and keeps a Worker alive until it is stored', async () => {
    const clock = new FakeClock()
    const kept: Promise<unknown>[] = []
    const context = { waitUntil: (work: Promise<unknown>) => void kept.push(work) }
    const sluice = createSluice({ clock })
    const settle = (_request: Request, { response }: { readonly response: Response | undefined }) =>
      Number(response?.headers.get('x-cost'))
    const limit = sluice.rateLimit({ limit: 10, window: '1m', key, cost: { reserve: 1, settle } })
    const handler = limit.wrap((_request: Request, _env: object, _context: typeof context) => {
      return new Response('hello', { headers: { 'x-cost': '4' } })
    })
    const response = await handler(request(), {}, context)
    expect(kept).toHaveLength(1)
    let isDone = false
    void kept[0].then(() => {
      isDone = true
    })
    await Promise.resolve()
    expect(isDone).toBe(false)
    await response.text()
    await kept[0]
    expect((await limit.limiter.peek('anna')).binding.remaining).toBe(6)
  })

  test('keeps its reservation if the client cancels the body', async () => {
    const limit = rateLimit({ limit: 10, window: '1m', key, cost: { reserve: 3, settle: () => 1 } })
    const response = await limit.wrap(() => new Response('hello'))(request())
    await response.body?.cancel()
    expect((await limit.limiter.peek('anna')).binding.remaining).toBe(7)
  })
})

describe('the client address', () => {
  const peer = { address: '192.0.2.7' }
  test.each([
    ['of Deno', { remoteAddr: { hostname: '192.0.2.7', port: 1, transport: 'tcp' } }],
    ['of Bun', { requestIP: () => peer }],
    ['of @hono/node-server', { incoming: { socket: { remoteAddress: '192.0.2.7' } } }],
    ['of srvx', { ip: '192.0.2.7' }],
  ])('%s is counted', async (_name, info) => {
    const limit = rateLimit({ limit: 2, window: '1m' })
    await limit(new Request('https://api.example/'), info, () => new Response('hello'))
    expect((await limit.limiter.peek('192.0.2.7')).binding.remaining).toBe(1)
  })

  test('is not read from a header that the client may have written', async () => {
    const limit = rateLimit({ limit: 2, window: '1m' })
    const headers = { 'cf-connecting-ip': '192.0.2.9', 'x-forwarded-for': '192.0.2.9' }
    await limit(new Request('https://api.example/', { headers }), { ip: '192.0.2.7' }, () => new Response('hello'))
    expect((await limit.limiter.peek('192.0.2.9')).binding.remaining).toBe(2)
  })
})
