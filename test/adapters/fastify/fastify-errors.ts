import { describe, expect, test } from '@jest/globals'
import { rateLimit, sluice } from '@sluice/fastify'
import type { FastifyError, fastify } from 'fastify'
import { opened, statuses } from './fastify-injected.ts'

const api = { name: 'api', limit: 1, window: '1m', algorithm: 'fixed-window', next: true } as const

/** The errors that `next: true` passes to Fastify's error handler, in both versions. */
export function fastifyErrors(make: typeof fastify): void {
  const app = opened(make)
  describe('next: true', () => {
    test("sends Fastify's default error response with the headers of the denial", async () => {
      const made = app()
      await made.register(sluice, { rateLimit: api })
      made.get('/', async () => 'ok')
      expect(await statuses(made, '/')).toEqual([200])
      const { statusCode, headers, body } = await made.inject('/')
      expect([statusCode, JSON.parse(body).code]).toEqual([429, 'SLUICE_DENIED'])
      expect(headers).toMatchObject({
        'retry-after': '60',
        ratelimit: expect.stringMatching(/^"api";r=0;t=(59|60)$/),
        'cache-control': 'no-store',
      })
    })

    test('passes a custom error handler everything it needs, from a hook and from a wrapped handler', async () => {
      const seen: FastifyError[] = []
      const made = app()
      made.setErrorHandler((error: FastifyError, _request, reply) => {
        seen.push(error)
        reply.code(error.statusCode ?? 500).send({ oops: error.code })
      })
      made.get('/hook', { onRequest: rateLimit(api) }, async () => 'ok')
      made.get(
        '/wrap',
        rateLimit(api).wrap(async () => 'ok'),
      )
      for (const path of ['/hook', '/wrap']) {
        await made.inject(path)
        const { statusCode, body, headers } = await made.inject(path)
        expect([statusCode, body, headers['retry-after']]).toEqual([429, '{"oops":"SLUICE_DENIED"}', '60'])
      }
      expect(seen.map(({ code, statusCode }) => [code, statusCode])).toEqual([
        ['SLUICE_DENIED', 429],
        ['SLUICE_DENIED', 429],
      ])
    })
  })
}
