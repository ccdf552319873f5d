import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { describe, test } from '@jest/globals'
import Router from '@koa/router'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { rateLimit as honoLimit } from '@sluice/hono'
import { rateLimit as koaLimit } from '@sluice/koa'
import { bypassContract } from '@sluice/testkit'
import express from 'express'
import { type FastifyRequest, fastify } from 'fastify'
import { Hono } from 'hono'
import Koa, { type Context } from 'koa'
import { running } from '../adapters/running-app.ts'

const path = '/users/anna/login'
const pattern = '/users/:user/login'
const except = { '/users/anna;x=1/login': 'another user' }
const limit = { limit: 3, window: '1h' } as const

// the parameter as the router has decoded it, in the form in which the application compares users
const apps: Readonly<Record<string, () => Promise<RequestListener> | RequestListener>> = {
  Express: () => {
    const key = (req: express.Request): string => String(req.params.user).toLowerCase()
    return express().post(pattern, expressLimit({ ...limit, key }), (_req, res) => void res.send('welcome'))
  },
  Koa: () => {
    const key = (ctx: Context): string => ctx.params.user.toLowerCase()
    const router = new Router().post(pattern, koaLimit({ ...limit, key }) as never, (ctx) => {
      ctx.body = 'welcome'
    })
    return new Koa().use(router.routes() as never).callback()
  },
  Fastify: async () => {
    const key = ({ params }: FastifyRequest): string => (params as { user: string }).user.toLowerCase()
    const app = fastify({ routerOptions: { caseSensitive: false, ignoreDuplicateSlashes: true } })
    app.post(pattern, { onRequest: fastifyLimit({ ...limit, key }) }, async () => 'welcome')
    await app.ready()
    return (req, res) => app.routing(req, res)
  },
  Hono: () => {
    const app = new Hono()
    const key = (c: { req: { param(name: string): string | undefined } }): string =>
      String(c.req.param('user')).toLowerCase()
    app.post(pattern, honoLimit({ ...limit, key: key as never }), (c) => c.text('welcome'))
    return getRequestListener(app.fetch)
  },
}

describe.each(Object.entries(apps))('a key from the path on %s', (_name, build) => {
  bypassContract({ describe, test }, async () => running(await build()), { path, except })
})
