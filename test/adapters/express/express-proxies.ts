import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { Warnings } from '@sluice/testkit'
import type express from 'express'
import type { Express } from 'express'
import request from 'supertest'

/** Tests of the address that is counted under each setting of `trust proxy`. */
export function expressProxies(make: typeof express): void {
  describe('trust proxy', () => proxies(make))
}

function proxies(make: typeof express): void {
  const warnings = new Warnings()
  beforeEach(() => warnings.listen())
  afterEach(() => warnings.stop())

  const app = (trust?: unknown): Express => {
    const made = make()
    if (trust !== undefined) made.set('trust proxy', trust)
    made.use(rateLimit({ limit: 1, window: '1m' }))
    made.get('/', (_req, res) => void res.send('ok'))
    return made
  }
  const from = (made: Express, forwarded: string) => request(made).get('/').set('X-Forwarded-For', forwarded)

  test('of one hop counts the client address that the proxy saw, whatever the client claims', async () => {
    const made = app(1)
    expect((await from(made, '6.6.6.6, 203.0.113.1')).status).toBe(200)
    expect((await from(made, '7.7.7.7, 203.0.113.1')).status).toBe(429)
    expect((await from(made, '203.0.113.2')).status).toBe(200)
    expect(warnings.codes).toEqual([])
  })

  test('unset counts the address of the proxy, and warns once', async () => {
    const made = app()
    expect((await from(made, '203.0.113.1')).status).toBe(200)
    expect((await from(made, '203.0.113.2')).status).toBe(429)
    expect(warnings.codes).toEqual(['SLUICE_UNTRUSTED_PROXY'])
  })

  test('of all proxies is warned about once, and an invalid address counts as the socket address', async () => {
    const made = app(true)
    expect((await from(made, '203.0.113.1')).status).toBe(200)
    expect((await from(made, 'not-an-ip:injected|key')).status).toBe(200)
    expect((await from(made, 'another-junk')).status).toBe(429)
    expect(warnings.codes).toEqual(['SLUICE_TRUSTS_ALL_PROXIES', 'SLUICE_BAD_ADDRESS'])
  })

  test('that throws counts the socket address', async () => {
    const made = app(() => {
      throw new Error('no list of proxies')
    })
    expect((await request(made).get('/')).status).toBe(200)
    expect((await request(made).get('/')).status).toBe(429)
  })
}
