import { describe, expect, test } from '@jest/globals'
import { byHeader, type FastifyRateLimitOptions, inflightLimit, type Permit, rateLimit } from '@sluice/fastify'
import { until, Warnings, Watcher } from '@sluice/testkit'
import type { FastifyInstance, FastifyReply, fastify } from 'fastify'
import { type Make, opened, statuses } from './fastify-injected.ts'

const once = { limit: 1, window: '1m' } as const
const key = async (): Promise<string> => 'later'

/** Tests of Fastify handlers behind a limit, and of handlers that answer denials, for both versions. */
export function fastifyHandlers(make: typeof fastify): void {
  describe('handlers', () => handled(make))
}

function handled(make: typeof fastify): void {
  const app = opened(make)
  describe('a custom response to a denial', () => ownAnswers(app))
  describe('wrap', () => wrapped(app))
}

function ownAnswers(app: Make): void {
  const ways: Readonly<Record<string, FastifyRateLimitOptions['denied']>> = {
    'sent at once': (_request, reply) => {
      reply.send({ own: 1 })
    },
    'sent, with the reply returned': (_request, reply) => reply.send({ own: 1 }),
    'sent by an async function': async (_request, reply) => reply.send({ own: 1 }),
    returned: () => ({ own: 1 }),
    'returned by an async function': async () => ({ own: 1 }),
    'sent later, with the reply returned': (_request, reply) => {
      setImmediate(() => reply.send({ own: 1 }))
      return reply
    },
    'written to the raw response': (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(429, { 'content-type': 'application/json' }).end('{"own":1}')
    },
  }
  for (const [how, denied] of Object.entries(ways)) {
    test.each([
      ['at once', {}],
      ['later', { key }],
    ])(`is ${how}, for a denial decided %s`, async (_when, options) => {
      const warnings = new Warnings()
      warnings.listen()
      const made = app()
      // a response that is still being sent when the custom handler has returned
      made.addHook('onSend', (_request, _reply, payload, done) => void setImmediate(() => done(null, payload)))
      made.addHook('onRequest', rateLimit({ ...once, cost: () => 2, denied, ...options }))
      made.get('/', async () => 'ok')
      const { statusCode, payload } = await made.inject('/')
      warnings.stop()
      expect([statusCode, payload, warnings.codes]).toEqual([429, '{"own":1}', []])
    })
  }
}

function wrapped(app: Make): void {
  const limits = { 'at once': {}, later: { key } }
  describe.each(Object.entries(limits))('around a handler, with a decision that arrives %s,', (_when, options) => {
    test('limits its handler, however the handler responds', async () => {
      const made = app()
      const limit = rateLimit({ limit: 4, window: '1m', ...options })
      made.get(
        '/async',
        limit.wrap(async () => ({ ok: 1 })),
      )
      made.get(
        '/value',
        limit.wrap(() => ({ ok: 1 })),
      )
      made.get(
        '/reply',
        limit.wrap((_request, reply) => reply.send({ ok: 1 })),
      )
      made.get(
        '/callback',
        limit.wrap((_request, reply) => {
          setImmediate(() => reply.send({ ok: 1 }))
        }),
      )
      for (const url of ['/async', '/value', '/reply', '/callback']) {
        expect(await made.inject(url)).toMatchObject({ statusCode: 200, payload: '{"ok":1}' })
      }
      expect(await statuses(made, '/async')).toEqual([429])
    })

    test('passes errors of its handler to the error handler', async () => {
      const made = app()
      const limit = rateLimit({ limit: 4, window: '1m', ...options })
      made.setErrorHandler((error: Error, _request, reply) => reply.code(418).send(error.message))
      made.get(
        '/throws',
        limit.wrap(() => {
          throw new Error('thrown')
        }),
      )
      made.get(
        '/rejects',
        limit.wrap(() => Promise.reject(new Error('rejected'))),
      )
      expect(await made.inject('/throws')).toMatchObject({ statusCode: 418, payload: 'thrown' })
      expect(await made.inject('/rejects')).toMatchObject({ statusCode: 418, payload: 'rejected' })
    })

    test('preserves the `this` of its handler', async () => {
      const made = app()
      made.get(
        '/',
        rateLimit({ ...once, ...options }).wrap(function (this: FastifyInstance) {
          return { same: this === made }
        }),
      )
      expect((await made.inject('/')).json()).toEqual({ same: true })
    })
  })

  test('holds a permit until the handler is done, even if the response was sent earlier', async () => {
    const watcher = new Watcher()
    let finish = (): void => {}
    const made = app()
    made.get(
      '/',
      inflightLimit({ limit: 1, observers: [watcher] }).wrap(async (_request, reply) => {
        // an injected request ends in the same turn in which it is answered
        await undefined
        reply.send('ok')
        await new Promise<void>((resolve) => (finish = resolve))
      }),
    )
    expect(await statuses(made, '/', '/')).toEqual([200, 503])
    finish()
    await until(() => watcher.held === 0)
    expect(await statuses(made, '/')).toEqual([200])
    finish()
  })

  test("is required for holdUntil: 'handler'; a hook warns about it once", async () => {
    const warnings = new Warnings()
    warnings.listen()
    const made = app()
    made.addHook('onRequest', inflightLimit({ limit: 1, holdUntil: 'handler' }))
    made.get('/', async () => 'ok')
    const seen = await statuses(made, '/', '/')
    warnings.stop()
    expect([seen, warnings.codes]).toEqual([[200, 200], ['SLUICE_BAD_OPTION']])
  })

  test('releases a permit that is granted after the request has ended', async () => {
    const made = app()
    let give: ((permit: Permit) => void) | undefined
    const backend = { acquire: () => new Promise<Permit>((resolve) => (give = resolve)) }
    let reply: FastifyReply | undefined
    let entered = 0
    made.addHook('onRequest', async (_request, one) => {
      reply = one
    })
    made.get('/', { onRequest: inflightLimit({ limit: 1, backend }) }, async () => {
      entered++
      return 'ok'
    })
    const answer = made.inject('/')
    await until(() => give !== undefined)
    reply?.send('answered')
    await answer
    let released = 0
    const permit = { lost: new AbortController().signal, release: () => released++, [Symbol.dispose]: () => {} }
    give?.(permit as unknown as Permit)
    await until(() => released === 1)
    expect(entered).toBe(0)
  })

  test('counts by header if the key is byHeader', async () => {
    const made = app()
    made.get(
      '/',
      rateLimit({ ...once, key: byHeader('x-user') }).wrap(async () => 'ok'),
    )
    const as = async (name: string) => (await made.inject({ url: '/', headers: { 'x-user': name } })).statusCode
    expect([await as('ann'), await as('bob'), await as('ann')]).toEqual([200, 200, 429])
  })
}
