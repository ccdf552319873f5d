import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { byRoute, type FastifyRouteLimits, rateLimit, sluice } from '@sluice/fastify'
import { Warnings } from '@sluice/testkit'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'

const per = (limit: number) => ({ limit, window: '1m' }) as const
const missing = (_request: FastifyRequest, reply: FastifyReply): void => void reply.code(404).send('missing')

describe.each<[string, () => FastifyInstance]>([
  ['Fastify 5', fastify as never],
  ['Fastify 4', fastify4 as never],
])('a 404 handler of %s', (_name, make) => {
  const warnings = new Warnings()
  let app: FastifyInstance
  beforeEach(async () => {
    warnings.listen()
    app = make()
    await app.register(sluice, { rateLimit: per(1) })
    app.get('/', async () => 'found')
  })
  afterEach(async () => {
    warnings.stop()
    await app.close()
  })
  const declare = (part: FastifyInstance, limits: FastifyRouteLimits): void =>
    void part.setNotFoundHandler({ config: { sluice: limits } } as object, missing)
  const statuses = async (...urls: string[]): Promise<number[]> => {
    const all: number[] = []
    for (const url of urls) all.push((await app.inject({ url })).statusCode)
    return all
  }

  test('may have a looser limit than the application, with a count of its own', async () => {
    declare(app, { rateLimit: per(3) })
    expect(await statuses('/', '/', '/a', '/b', '/c', '/d')).toEqual([200, 429, 404, 404, 404, 429])
  })

  test('may have a limit in addition to the limit of the application', async () => {
    declare(app, { rateLimit: { name: 'lookups', ...per(3) } })
    expect(await statuses('/', '/a')).toEqual([200, 429])
  })

  test('may be exempt from all limits', async () => {
    declare(app, { skipLimits: true })
    expect(await statuses('/', '/', '/a', '/b', '/c')).toEqual([200, 429, 404, 404, 404])
  })

  test('of a prefix has limits and a count of its own', async () => {
    declare(app, { rateLimit: per(2) })
    app.register(async (part) => declare(part, { rateLimit: { ...per(1), key: byRoute() } }), { prefix: '/part' })
    expect(await statuses('/a', '/b', '/c', '/part/a', '/part/b', '/part')).toEqual([404, 404, 429, 404, 429, 429])
  })

  test('has a stricter limit with a hook, in addition to the limit of the application', async () => {
    await app.close()
    app = make()
    await app.register(sluice, { rateLimit: per(9) })
    app.setNotFoundHandler({ preHandler: rateLimit({ name: 'lookups', ...per(1) }) }, missing)
    expect(await statuses('/a', '/b')).toEqual([404, 429])
  })

  test('with invalid limits has the limits of the application, and a warning names the handler', async () => {
    declare(app, { rateLimit: { limit: -1, window: '1m' } })
    expect(await statuses('/a', '/b')).toEqual([404, 429])
    expect(warnings.codes).toEqual(['SLUICE_BAD_LIMIT'])
    expect(warnings.texts[0]).toMatch(/^invalid limits of a 404 handler are ignored: .*-1/)
  })

  test("with a cap with holdUntil: 'handler' prints a warning that names the handler", async () => {
    declare(app, { rateLimit: false, inflightLimit: { limit: 1, holdUntil: 'handler' } })
    expect(await statuses('/a', '/b')).toEqual([404, 404])
    expect(warnings.codes).toEqual(['SLUICE_BAD_OPTION'])
    expect(warnings.texts[0]).toContain("received 'handler' for a 404 handler")
  })
})
