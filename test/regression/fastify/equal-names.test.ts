import { describe, expect, test } from '@jest/globals'
import { memoryBackend } from '@sluice/fastify'
import { type FastifyInstance, fastify } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import { limited, limits, opened, statuses } from '../../adapters/fastify/fastify-injected.ts'

const ok = async (): Promise<string> => 'ok'
const rate = (limit: number) => ({ rateLimit: { limit, window: '1m' } }) as const

// on a backend of the user, counts use the name of the plugin scope, and other data under the same name is rejected
describe.each([
  ['5', fastify],
  ['4', fastify4 as unknown as typeof fastify],
])('Fastify %s counts separately on one backend', (_version, make) => {
  const app = opened(make)

  test.each([
    ['with separate objects', rate(1), rate(2)],
    ['with a shared object', rate(1), undefined],
  ])('the versions of a route, with options %s', async (_whose, one, other = one) => {
    const made = await limited(app(), { backend: memoryBackend() })
    made.get('/a', { constraints: { version: '1.0.0' }, ...limits(one) }, ok)
    made.get('/a', { constraints: { version: '2.0.0' }, ...limits(other) }, ok)
    const asked: number[] = []
    for (const version of ['1.x', '1.x', '2.x']) {
      asked.push((await made.inject({ url: '/a', headers: { 'accept-version': version } })).statusCode)
    }
    expect(asked).toEqual([200, 429, 200])
  })

  test('two routes that differ in a trailing slash', async () => {
    const made = await limited(app(), { backend: memoryBackend() })
    made.get('/a', limits(rate(1)), ok)
    made.get('/a/', limits(rate(2)), ok)
    expect(await statuses(made, '/a', '/a', '/a/', '/a/', '/a/')).toEqual([200, 429, 200, 200, 429])
  })

  test('a plugin scope and its child scope without a prefix', async () => {
    const made = await limited(app(), { backend: memoryBackend() })
    const inner = async (part: FastifyInstance): Promise<void> => {
      await limited(part, rate(1))
      part.get('/inner', ok)
    }
    const outer = async (part: FastifyInstance): Promise<void> => {
      await limited(part, rate(2))
      part.get('/outer', ok)
      part.register(inner)
    }
    made.register(outer, { prefix: '/v1' })
    const asked = ['/v1/inner', '/v1/inner', '/v1/outer', '/v1/outer', '/v1/outer']
    expect(await statuses(made, ...asked)).toEqual([200, 429, 200, 200, 429])
  })

  test('the first, second and third registration of an application', async () => {
    const made = await limited(app(), { backend: memoryBackend(), ...rate(3) })
    await limited(made, rate(2))
    await limited(made, rate(1))
    made.get('/', ok)
    expect(await statuses(made, '/', '/')).toEqual([200, 429])
  })
})
