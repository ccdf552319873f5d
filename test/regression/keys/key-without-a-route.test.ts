import http, { type RequestListener } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import Router from '@koa/router'
import * as ofExpress from '@sluice/express'
import * as ofFastify from '@sluice/fastify'
import * as ofFetch from '@sluice/fetch'
import * as ofHono from '@sluice/hono'
import * as ofKoa from '@sluice/koa'
import * as ofNode from '@sluice/node-http'
import { byAll, byIp, byRoute, type KeySource } from '@sluice/node-http'
import { Warnings } from '@sluice/testkit'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import request from 'supertest'
import { express4 } from '../../adapters/express/express4.ts'

const warnings = new Warnings()

beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

type Ask = (path: string) => Promise<unknown>
/** Creates an application with a limit in front of all requests, or of its route `/a`. */
type Make = (key: KeySource, place: 'everywhere' | 'route') => Ask | Promise<Ask>

const LIMIT = { limit: 100, window: '1m', name: 'api' } as const

const asking = (listener: RequestListener): Ask => {
  const server = http.createServer(listener)
  return (path) => request(server).get(path)
}

const ofExpressVersion =
  (make: typeof express): Make =>
  (key, place) => {
    const app = make()
    const limit = ofExpress.rateLimit({ ...LIMIT, key })
    if (place === 'everywhere') app.use(limit)
    else app.use('/a', make.Router().get('/', limit))
    app.get('/a', (_req, res) => void res.send('ok'))
    return asking(app)
  }

const koa: Make = (key, place) => {
  const app = new Koa()
  const router = new Router()
  const limit = ofKoa.rateLimit({ ...LIMIT, key })
  if (place === 'everywhere') app.use(limit)
  else router.get('/a', limit)
  router.get('/a', (ctx) => {
    ctx.body = 'ok'
  })
  return asking(app.use(router.routes()).callback() as RequestListener)
}

const onFastify: Make = async (key, place) => {
  const app = fastify()
  const rateLimit = { ...LIMIT, key }
  await app.register(ofFastify.sluice, place === 'everywhere' ? { rateLimit } : {})
  const config = place === 'everywhere' ? {} : { sluice: { rateLimit } }
  app.get('/a', { config }, async () => 'ok')
  return (path) => app.inject(path)
}

const hono: Make = (key, place) => {
  const app = new Hono()
  const limit = ofHono.rateLimit({ ...LIMIT, key })
  if (place === 'everywhere') app.use(limit)
  else app.use('/a', limit)
  app.get('/a', (c) => c.text('ok'))
  return async (path) => app.request(path)
}

const node: Make = (key) =>
  asking(ofNode.rateLimit({ ...LIMIT, key }).wrap((_req, res) => void res.end('ok')) as RequestListener)

const fetchHandler: Make = (key) => {
  const handle = ofFetch.rateLimit({ ...LIMIT, key }).wrap(() => new Response('ok'))
  return async (path) => handle(new Request(`http://x${path}`), { ip: '192.0.2.1' })
}

const inFront: readonly (readonly [string, Make, boolean])[] = [
  ['Express 4', ofExpressVersion(express4), true],
  ['Express 5', ofExpressVersion(express), true],
  ['Koa', koa, true],
  ['Fastify', onFastify, false],
  ['Hono', hono, false],
  ['node:http', node, true],
  ['fetch handlers', fetchHandler, true],
]

describe('a key by route of a limiter in front of all requests', () => {
  test.each(inFront)('%s', async (_name, make, warns) => {
    for (const key of [byRoute(), byAll(byIp(), byRoute())]) {
      warnings.listen()
      const ask = await make(key, 'everywhere')
      await ask('/a')
      await ask('/missing')
      await ask('/a')
      const expected = warns
        ? [expect.stringContaining("limiter 'api': byRoute() finds no route, so that all requests share one key")]
        : []
      expect(warnings.texts.filter((text) => text.includes('byRoute'))).toEqual(expected)
    }
  })
})

describe('a key by route of a limiter of a route', () => {
  test.each(inFront.slice(0, 5))('is found without a warning: %s', async (_name, make) => {
    const ask = await make(byRoute(), 'route')
    await ask('/a')
    await ask('/missing')
    expect(warnings.codes).toEqual([])
  })
})
