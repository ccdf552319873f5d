import { createServer, type RequestListener, type Server } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { type CounterService, counterClient, counterService, createCounters } from '@sluice/counters'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { ServiceSite } from './service-site.ts'

interface Framework {
  /** Base URL of the service. */
  readonly mount: string
  server(service: CounterService): Promise<Server>
}

const frameworks: Readonly<Record<string, Framework>> = {
  'node:http': { mount: '', server: async (service) => createServer(service) },
  Express: { mount: '', server: async (service) => createServer(express().use('/', service)) },
  'Express below a path': {
    mount: '/usage',
    server: async (service) => createServer(express().use('/usage', service)),
  },
  'Express with a JSON body parser': {
    mount: '',
    server: async (service) => createServer(express().use(express.json()).use(service)),
  },
  'Express with a text body parser': {
    mount: '',
    server: async (service) =>
      createServer(
        express()
          .use(express.text({ type: '*/*' }))
          .use(service),
      ),
  },
  Koa: {
    mount: '',
    server: async (service) => {
      const app = new Koa()
      app.use(async (ctx) => {
        ctx.respond = false
        await service(ctx.req, ctx.res)
      })
      return createServer(app.callback() as RequestListener)
    },
  },
  Fastify: {
    mount: '',
    server: async (service) => {
      const app = fastify()
      await app.register(async (scope) => {
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
        scope.all('/*', (request, reply) => {
          reply.hijack()
          void service(request.raw, reply.raw)
        })
      })
      await app.ready()
      return app.server
    },
  },
}

describe.each(Object.entries(frameworks))('a service in %s', (_, { mount, server }) => {
  async function onSite(run: (site: ServiceSite) => Promise<void>): Promise<void> {
    const counters = createCounters()
    const site = await ServiceSite.around(await server(counterService({ counters })), counters)
    try {
      await run(site)
    } finally {
      await site.stop()
    }
  }

  test('counts, reads, lists and deletes', () =>
    onSite(async (site) => {
      const counted = await site.ask('POST', '/counters/a%2Fb/increment', { body: { delta: 3 } }, mount)
      expect(counted.json).toEqual({ value: 3, status: 'ok' })
      expect((await site.ask('POST', '/counters/a%2Fb/increment', {}, mount)).json.value).toBe(4)
      const deltas = { 'a/b': 2, __proto__: 0 }
      expect((await site.ask('POST', '/counters/batch', { body: { deltas } }, mount)).json.values).toEqual({ 'a/b': 6 })
      expect((await site.ask('GET', '/counters/a%2Fb', {}, mount)).json.value).toBe(6)
      expect((await site.ask('GET', '/counters?prefix=a/', {}, mount)).json.counters).toHaveLength(1)
      expect((await site.ask('GET', '/counters/a%2F*/aggregate', {}, mount)).json.sum).toBe(6)
      expect((await site.ask('DELETE', '/counters/a%2Fb', {}, mount)).status).toBe(204)
    }))

  test('rejects with problem details, and the framework does not answer instead', () =>
    onSite(async (site) => {
      expect((await site.ask('GET', '/nowhere', {}, mount)).status).toBe(404)
      expect((await site.ask('PUT', '/counters/a', {}, mount)).status).toBe(405)
      expect((await site.ask('GET', '/counters?limit=0', {}, mount)).json.code).toBe('SLUICE_BAD_OPTION')
      const unknown = { body: { detla: 1 } }
      expect((await site.ask('POST', '/counters/a/increment', unknown, mount)).json.code).toBe('bad-request')
    }))

  test('works with a counter client', () =>
    onSite(async (site) => {
      const counters = counterClient({ url: `${site.url}${mount}/` })
      expect(await counters.increment('a', 2, { token: 'grüße' })).toMatchObject({ value: 2, counted: true })
      expect(await counters.increment('a', 2, { token: 'grüße' })).toMatchObject({ value: 2, counted: false })
      expect((await site.counters.increment('a', 2, { token: 'grüße' })).counted).toBe(false)
      await counters.close()
    }))
})

test('a body that was consumed before is answered with an error', async () => {
  const counters = createCounters()
  const service = counterService({ counters })
  const server = createServer((req, res) => {
    req.resume().on('end', () => void service(req, res))
  })
  const site = await ServiceSite.around(server, counters)
  const { status, json } = await site.ask('POST', '/counters/a/increment', { body: { delta: 1 } })
  expect([status, json.code]).toEqual([500, 'body-read-before'])
  await site.stop()
})
