import { createServer } from 'node:http'
import { connect, createServer as createHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, jest, test } from '@jest/globals'
import Router from '@koa/router'
import * as ofExpress from '@sluice/express'
import * as ofFastify from '@sluice/fastify'
import * as ofFetch from '@sluice/fetch'
import * as ofHono from '@sluice/hono'
import * as ofKoa from '@sluice/koa'
import * as ofNode from '@sluice/node-http'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import request from 'supertest'
import { express4 } from '../../adapters/express/express4.ts'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { Koa2 } from '../../adapters/koa/koa2.ts'

type Any = never
type Maker = (...args: readonly unknown[]) => unknown
type Errors = string[]

/** Mounts `maker` without calling it, sends two requests, and returns the messages that the application received. */
type Place = (maker: Maker, errors: Errors, handler: () => void) => Promise<void>

const messageOf = (error: unknown): string => (error as Error).message

function expressRoute(make: typeof express): Place {
  return async (maker, errors, handler) => {
    const app = make()
    app.get('/', maker as Any, (_req, res) => {
      handler()
      res.end()
    })
    app.use(((error, _req, res, _next) => {
      errors.push(messageOf(error))
      res.status(500).end()
    }) as express.ErrorRequestHandler)
    for (let times = 0; times < 2; times++) expect((await request(app).get('/')).status).toBe(500)
  }
}

function koaRoute(Make: typeof Koa): Place {
  return async (maker, errors, handler) => {
    const app = new Make()
    app.on('error', (error) => errors.push(messageOf(error)))
    const router = new Router()
    router.get('/', maker as Any, handler as Any)
    app.use(router.routes() as Any)
    for (let times = 0; times < 2; times++) expect((await request(app.callback()).get('/')).status).toBe(500)
  }
}

const honoRoute: Place = async (maker, errors, handler) => {
  const app = new Hono()
  app.get('/', maker as Any, handler as Any)
  app.onError((error, c) => {
    errors.push(messageOf(error))
    return c.text('failed', 500)
  })
  for (let times = 0; times < 2; times++) expect((await app.request('/')).status).toBe(500)
}

const fetchHandler: Place = async (maker, errors, handler) => {
  for (const method of ['GET', 'POST']) {
    try {
      await maker(new Request('http://localhost/', { method }), undefined, handler)
    } catch (error) {
      errors.push(messageOf(error))
    }
  }
}

const nodeHandler: Place = async (maker, errors, handler) => {
  const listener = (req: unknown, res: { end(): void }): void => {
    try {
      maker(req, res, handler)
    } catch (error) {
      errors.push(messageOf(error))
    }
    res.end()
  }
  const server = createServer(listener as Any)
  await request(server).get('/')
  const http2 = createHttp2(listener as Any).listen(0, '127.0.0.1')
  await new Promise((resolve) => http2.once('listening', resolve))
  const session = connect(`http://127.0.0.1:${(http2.address() as AddressInfo).port}`)
  await new Promise((resolve) => session.request({ ':path': '/' }).resume().once('close', resolve))
  session.destroy()
  http2.close()
}

const NAMES = ['rateLimit', 'inflightLimit', 'slowDown', 'shed'] as const
type Package = Readonly<Record<(typeof NAMES)[number], unknown>> & { createSluice(options?: object): object }

const places: Readonly<Record<string, readonly [Package, Place]>> = {
  'a route of Express 5': [ofExpress as Any, expressRoute(express)],
  'a route of Express 4': [ofExpress as Any, expressRoute(express4)],
  'a route of Koa 3': [ofKoa as Any, koaRoute(Koa)],
  'a route of Koa 2': [ofKoa as Any, koaRoute(Koa2 as Any)],
  'a route of Hono': [ofHono as Any, honoRoute],
  'a fetch handler': [ofFetch as Any, fetchHandler],
  'a handler of node:http': [ofNode as Any, nodeHandler],
}

/** The packages' own functions, and the results of `createSluice`. */
const sources: readonly (readonly [string, (given: Package) => Package])[] = [
  ['itself', (given) => given],
  ['of createSluice()', (given) => given.createSluice() as Package],
  ['of createSluice({ … })', (given) => given.createSluice({ deadlineMs: 40, clock: undefined }) as Package],
]

describe.each(Object.entries(places))('in %s', (_place, [given, place]) => {
  describe.each(sources)('a function %s that was not called', (_source, from) => {
    test.each(NAMES)('fails each request with one message that says what to write: %s', async (name) => {
      const [errors, handler]: [Errors, jest.Mock<() => void>] = [[], jest.fn()]
      await place(from(given)[name] as Maker, errors, handler)
      const message = `SLUICE_BAD_OPTION: ${name}: expected options, as in ${name}({ … }), received a request `
      expect(errors).toEqual([expect.stringContaining(message), expect.stringContaining(message)])
      expect(handler).not.toHaveBeenCalled()
    })
  })
})

describe.each([
  ['Fastify 5', fastify],
  ['Fastify 4', fastify4 as unknown as typeof fastify],
])('in %s', (_name, make) => {
  const declared: Readonly<Record<string, (app: ReturnType<typeof fastify>, maker: Any) => unknown>> = {
    'a hook of a route': (app, maker) => app.get('/', { onRequest: maker }, async () => 'ok'),
    'a list of hooks of a route': (app, maker) => app.get('/', { preHandler: [maker] }, async () => 'ok'),
    'a handler': (app, maker) => app.get('/', maker),
    'a hook of the application': (app, maker) => app.addHook('preValidation', maker),
    'a plugin': (app, maker) => app.register(maker),
    'a hook of the 404 handler': (app, maker) => app.setNotFoundHandler({ preHandler: maker }, async () => 'no'),
  }
  describe.each(Object.entries(declared))('%s that was not called', (_where, declare) => {
    test.each(sources)('fails at start-up: a function %s', async (_source, from) => {
      for (const name of NAMES) {
        const app = make()
        const started = async (): Promise<unknown> => {
          await declare(app, from(ofFastify as Any)[name] as Any)
          return app.ready()
        }
        await expect(started()).rejects.toThrow(`expected the result of ${name}({ … }), received the function ${name}`)
      }
    })
  })
})
