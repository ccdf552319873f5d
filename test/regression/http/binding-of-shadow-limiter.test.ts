import type { AddressInfo, Server } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import * as onExpress from '@sluice/express'
import * as onFastify from '@sluice/fastify'
import type { RequestSluice } from '@sluice/http'
import * as onKoa from '@sluice/koa'
import express from 'express'
import { fastify } from 'fastify'
import Koa from 'koa'

/** The value of `req.sluice` after limiters with the given modes, of which the first has the fewest requests left. */
type Ask = (modes: readonly Mode[]) => Promise<RequestSluice>
type Mode = 'enforce' | 'shadow'

/** Limits of 1, 2, 3, ... requests a minute, so that after one request each the first limiter has the fewest left. */
function optionsOf(modes: readonly Mode[]) {
  return modes.map((mode, index) => ({ name: `${mode} ${index}`, limit: index + 1, window: '1m', mode }) as const)
}

async function asked(server: Server): Promise<void> {
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
}

async function listening(server: Server): Promise<Server> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  return server
}

const frameworks: Readonly<Record<string, Ask>> = {
  Express: async (modes) => {
    let known: RequestSluice | undefined
    const app = express()
    for (const options of optionsOf(modes)) app.use(onExpress.rateLimit(options))
    app.get('/', (req, res) => {
      known = req.sluice
      res.send('ok')
    })
    const server = await listening(app.listen(0, '127.0.0.1'))
    await asked(server)
    await new Promise((resolve) => server.close(resolve))
    return known as RequestSluice
  },
  Koa: async (modes) => {
    let known: RequestSluice | undefined
    const app = new Koa()
    for (const options of optionsOf(modes)) app.use(onKoa.rateLimit(options))
    app.use((ctx) => {
      known = ctx.state.sluice
      ctx.body = 'ok'
    })
    const server = await listening(app.listen(0, '127.0.0.1'))
    await asked(server)
    await new Promise((resolve) => server.close(resolve))
    return known as RequestSluice
  },
  Fastify: async (modes) => {
    let known: RequestSluice | undefined
    const app = fastify()
    for (const options of optionsOf(modes)) app.addHook('onRequest', onFastify.rateLimit(options))
    app.get('/', async (request) => {
      known = request.sluice
      return 'ok'
    })
    await app.inject('/')
    await app.close()
    return known as RequestSluice
  },
}

describe.each(Object.entries(frameworks))('after several limiters of %s', (_framework, ask) => {
  test.each<[string, readonly Mode[], string]>([
    ['a shadow limiter with fewer requests left is not the binding one', ['shadow', 'enforce'], 'enforce 1'],
    ['at any position', ['shadow', 'enforce', 'shadow', 'enforce'], 'enforce 1'],
    ['among shadow limiters the one with the fewest requests left is binding', ['shadow', 'shadow'], 'shadow 0'],
  ])('%s', async (_what, modes, binding) => {
    const { decision, decisions } = await ask(modes)
    expect(decision?.binding.policy.name).toBe(binding)
    expect(decisions).toHaveLength(modes.length)
  })
})
