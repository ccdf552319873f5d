import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/koa'
import { Warnings } from '@sluice/testkit'
import type Koa from 'koa'
import request from 'supertest'

type KoaOptions = ConstructorParameters<typeof Koa>[0]

/** Tests of the address that is counted under each setting of `app.proxy`. */
export function koaProxies(make: typeof Koa): void {
  describe('app.proxy', () => proxies(make))
}

function proxies(Make: typeof Koa): void {
  const warnings = new Warnings()
  beforeEach(() => warnings.listen())
  afterEach(() => warnings.stop())

  const app = (options: KoaOptions) => {
    const made = new Make(options)
    made.use(rateLimit({ limit: 1, window: '1m' }))
    made.use((ctx) => {
      ctx.body = 'ok'
    })
    return made.callback()
  }
  const from = async (made: ReturnType<typeof app>, forwarded: string, name = 'X-Forwarded-For') =>
    (await request(made).get('/').set(name, forwarded)).status

  test('with one address counts the client address that the proxy saw, whatever the client claims', async () => {
    const made = app({ proxy: true, maxIpsCount: 1 })
    expect(await from(made, '6.6.6.6, 203.0.113.1')).toBe(200)
    expect(await from(made, '7.7.7.7, 203.0.113.1')).toBe(429)
    expect(await from(made, '203.0.113.2')).toBe(200)
    expect(warnings.codes).toEqual([])
  })

  test('unset counts the address of the proxy, and warns once', async () => {
    const made = app({})
    expect(await from(made, '203.0.113.1')).toBe(200)
    expect(await from(made, '203.0.113.2')).toBe(429)
    expect(warnings.codes).toEqual(['SLUICE_UNTRUSTED_PROXY'])
  })

  test.each([undefined, 0])(
    'with %s for maxIpsCount is warned about once, and an invalid address counts as the socket address',
    async (maxIpsCount) => {
      const made = app({ proxy: true, ...(maxIpsCount !== undefined && { maxIpsCount }) })
      expect(await from(made, '203.0.113.1')).toBe(200)
      expect(await from(made, 'aaaa bbbb<script>')).toBe(200)
      expect(await from(made, 'another-junk')).toBe(429)
      expect(warnings.codes).toEqual(['SLUICE_TRUSTS_ALL_PROXIES', 'SLUICE_BAD_ADDRESS'])
    },
  )

  test('with a custom header counts the address in that header, without a warning', async () => {
    const made = app({ proxy: true, proxyIpHeader: 'X-Real-IP' })
    expect(await from(made, '203.0.113.1', 'X-Real-IP')).toBe(200)
    expect(await from(made, '203.0.113.1', 'X-Real-IP')).toBe(429)
    expect(await from(made, '203.0.113.2', 'X-Real-IP')).toBe(200)
    expect(await from(made, '198.51.100.9')).toBe(200)
    expect(await from(made, '198.51.100.8')).toBe(429)
    expect(warnings.codes).toEqual([])
  })

  test('is ignored if the application provides the address itself', async () => {
    const made = new Make()
    made.use((ctx, next) => {
      ctx.request.ip = ctx.get('x-client')
      return next()
    })
    made.use(rateLimit({ limit: 1, window: '1m' }))
    expect(await from(made.callback(), '203.0.113.1', 'X-Client')).toBe(404)
    expect(await from(made.callback(), '203.0.113.1', 'X-Client')).toBe(429)
    expect(await from(made.callback(), '203.0.113.2', 'X-Client')).toBe(404)
  })
}
