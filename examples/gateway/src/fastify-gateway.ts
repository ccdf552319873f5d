import { Readable } from 'node:stream'
import { byHeader, type Clock, explainClient, rateLimit, sluice } from '@sluice/fastify'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { isKnownKey, isPassword, left, noKey, resultsOf, routes, words, workSlowly } from './api.ts'
import { chatReserve, policiesOf } from './policies.ts'
import type { Watch } from './watch.ts'

declare module 'fastify' {
  interface FastifyRequest {
    words?: number
  }
}

type Query = { readonly results?: unknown; readonly words?: unknown }
const queryOf = (request: FastifyRequest): Query => request.query as Query

/** The API on Fastify. Tests pass their own clock. */
export async function fastifyGateway(clock?: Clock, watch?: Watch): Promise<FastifyInstance> {
  const policies = policiesOf(watch?.site)
  const observers = watch?.observers
  const app = fastify()
  // viewing the page is not counted, in any order: the routes of the page set `skipLimits`
  if (watch) await app.register(watch.page.fastify, { prefix: watch.path })
  await app.register(sluice, { rateLimit: policies.address, clock, observers })

  app.get('/', async () => routes)

  const failures = {
    reserve: 1,
    settle: (_request: FastifyRequest, { statusCode }: FastifyReply) => (statusCode === 401 ? 1 : 0),
  }
  const login = { rateLimit: { ...policies.login, cost: failures } }
  app.post('/login', { config: { sluice: login } }, async (request, reply) => {
    const welcome = isPassword(request.body)
    reply.code(welcome ? 200 : 401)
    return { welcome }
  })

  // a separate hook, after the one that checks the key
  const perKey = rateLimit({ key: byHeader('x-api-key'), policies: policies.v1, clock, observers })
  app.get('/v1', { onRequest: [knownKeyOnly, perKey] }, async (request) => ({ left: left(request.sluice) }))

  const cost = (request: FastifyRequest): number => resultsOf(queryOf(request).results) / 10
  const search = { rateLimit: { ...policies.search, cost } }
  app.get('/search', { config: { sluice: search } }, async (request) => ({
    results: resultsOf(queryOf(request).results),
  }))

  const settle = (request: FastifyRequest): number | undefined => request.words
  const sent = { reserve: chatReserve, settle, settleOn: 'always' } as const
  const chat = { rateLimit: { ...policies.chat, cost: sent } }
  app.get('/chat', { config: { sluice: chat } }, async (request, reply) => {
    reply.type('text/plain')
    return Readable.from(counted(request), { highWaterMark: 1 })
  })

  app.get('/client', async (request) => explainClient(request))

  const slow = { inflightLimit: { ...policies.slow, holdUntil: 'handler' } } as const
  app.get('/slow', { config: { sluice: slow } }, workSlowly)
  return app
}

function knownKeyOnly(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (isKnownKey(request.headers['x-api-key'])) done()
  else reply.code(401).send(noKey)
}

/** Charges only the words sent, also if the client disconnects. */
async function* counted(request: FastifyRequest): AsyncGenerator<string> {
  request.words = 0
  for await (const word of words(queryOf(request).words)) {
    request.words++
    yield word
  }
}
