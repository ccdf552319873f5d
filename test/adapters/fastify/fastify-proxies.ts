import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { rateLimit, sluice } from '@sluice/fastify'
import { Warnings } from '@sluice/testkit'
import type { FastifyInstance, FastifyServerOptions, fastify } from 'fastify'

/** Fastify accepts numbers, although its types do not. */
type Trust = FastifyServerOptions['trustProxy'] | number

/** Tests of the address that is counted under each setting of `trustProxy`. */
export function fastifyProxies(make: typeof fastify): void {
  describe('trustProxy', () => proxies(make))
}

const once = { limit: 1, window: '1m' } as const

function proxies(make: typeof fastify): void {
  const warnings = new Warnings()
  const open: FastifyInstance[] = []
  beforeEach(() => warnings.listen())
  afterEach(async () => {
    warnings.stop()
    await Promise.all(open.splice(0).map((one) => one.close()))
  })

  const app = (trustProxy?: Trust): FastifyInstance => {
    const made = make(trustProxy === undefined ? {} : { trustProxy: trustProxy as string })
    made.get('/', async () => 'ok')
    open.push(made)
    return made
  }
  const hooked = async (trust?: Trust): Promise<FastifyInstance> =>
    app(trust).addHook('onRequest', rateLimit(once)) as FastifyInstance
  const plugged = async (trust?: Trust): Promise<FastifyInstance> => {
    const made = app(trust)
    await made.register(sluice, { rateLimit: once })
    return made
  }
  const from = async (made: FastifyInstance, forwarded: string): Promise<number> =>
    (await made.inject({ url: '/', headers: { 'x-forwarded-for': forwarded } })).statusCode

  describe.each([
    ['a hook', hooked],
    ['the plugin', plugged],
  ])('with %s,', (_what, built) => {
    test('of addresses counts the client address that the proxy saw, whatever the client claims', async () => {
      const made = await built('loopback')
      expect(await from(made, '6.6.6.6, 203.0.113.1')).toBe(200)
      expect(await from(made, '7.7.7.7, 203.0.113.1')).toBe(429)
      expect(await from(made, '203.0.113.2')).toBe(200)
      expect(warnings.codes).toEqual([])
    })

    test('unset counts the address of the proxy, and warns once', async () => {
      const made = await built()
      expect(await from(made, '203.0.113.1')).toBe(200)
      expect(await from(made, '203.0.113.2')).toBe(429)
      expect(warnings.codes).toEqual(['SLUICE_UNTRUSTED_PROXY'])
    })

    test('of all proxies is warned about once, and an invalid address counts as the socket address', async () => {
      const made = await built(true)
      expect(await from(made, '203.0.113.1')).toBe(200)
      expect(await from(made, 'not-an-ip:injected|key')).toBe(200)
      expect(await from(made, 'another-junk')).toBe(429)
      expect(warnings.codes).toEqual(['SLUICE_TRUSTS_ALL_PROXIES', 'SLUICE_BAD_ADDRESS'])
    })

    test('of a number is warned about once if this version of Fastify then trusts no proxy, and counts the client otherwise', async () => {
      const made = await built(1)
      const trusting = made.version.startsWith('4.')
      expect(await from(made, '6.6.6.6, 203.0.113.1')).toBe(200)
      expect(await from(made, '6.6.6.6, 203.0.113.2')).toBe(trusting ? 200 : 429)
      expect(warnings.codes).toEqual(trusting ? [] : ['SLUICE_TRUSTS_NO_PROXY'])
    })

    test('that throws counts the socket address', async () => {
      const made = await built(() => {
        throw new Error('no list of proxies')
      })
      expect((await made.inject('/')).statusCode).toBe(200)
      expect((await made.inject('/')).statusCode).toBe(429)
    })
  })

  test.each([
    [true, 'SLUICE_TRUSTS_ALL_PROXIES'],
    [1, 'SLUICE_TRUSTS_NO_PROXY'],
  ])('of %s is warned about when the plugin is registered, before the first request', async (trust, code) => {
    const { version } = await plugged(trust)
    expect(warnings.codes).toEqual(trust === 1 && version.startsWith('4.') ? [] : [code])
  })
}
