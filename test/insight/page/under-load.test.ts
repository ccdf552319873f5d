import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { expect, test } from '@jest/globals'
import * as ofExpress from '@sluice/express'
import { sluice } from '@sluice/fastify'
import { createInsight, dashboard, type Insight } from '@sluice/insight'
import { createLimiter } from '@sluice/limiter-core'
import { byHeader } from '@sluice/node-http'
import { createRedis, redisChannel } from '@sluice/redis'
import express from 'express'
import { fastify } from 'fastify'
import { startNode } from '../../services/processes/child-node.ts'
import { startRedis } from '../../services/redis/redis-server.ts'
import { BrowserSession, SOON, until } from './browser-session.ts'
import { listening, listeningOf } from './open-page.ts'
import { WatchedFleet } from './simulated-fleet.ts'

const SECRET = 'a secret of all processes'
const session = new BrowserSession()

type PageOf = ReturnType<typeof dashboard>

/** An application with a limit for each API key, and the page mounted before it. frameworks.test.ts has the others. */
const sites: Readonly<Record<string, (insight: Insight, page: PageOf) => Promise<Server>>> = {
  Express: async (insight, page) => {
    const app = express().use('/limits', page)
    app.use(ofExpress.rateLimit(limitOf(insight)))
    app.get('/', (_req, res) => void res.send('ok'))
    return createServer(app)
  },
  Fastify: async (insight, page) => {
    const app = fastify()
    await app.register(page.fastify, { prefix: '/limits' })
    await app.register(sluice, { rateLimit: limitOf(insight) })
    app.get('/', async () => 'ok')
    await app.ready()
    return app.server
  },
}

function limitOf(insight: Insight) {
  return { name: 'api', limit: 20, window: '1h', key: byHeader('x-api-key'), observers: [insight] } as const
}

test.each(Object.keys(sites))(
  'on %s the chart moves, and a denied key appears in the list within 2 s',
  async (name) => {
    const insight = createInsight({ privacy: 'full' })
    const page = dashboard({ insight, path: '/limits', updateMs: 250 })
    const server = await sites[name](insight, page)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { url, stop } = listeningOf(server)
    session.closing.push(async () => {
      page.close()
      await stop()
      await insight.close()
    })
    const { page: shown, faults } = await session.open(`${url}limits/`)
    await until(shown, '#verdict', 'Idle')
    const label = () => shown.locator('#chart').getAttribute('aria-label')
    const before = await label()
    const ask = async (key: string) => (await fetch(url, { headers: { 'x-api-key': key } })).status
    const statuses = await Promise.all([...Array(10).fill('honest'), ...Array(50).fill('greedy')].map(ask))
    expect(statuses.filter((status) => status === 429)).toHaveLength(30)
    await shown.locator('section', { hasText: 'Most denied keys' }).getByText('greedy').waitFor({ timeout: 2_000 })
    await until(shown, '#verdict', 'Policy \u2068api\u2069 denies many requests')
    expect(await label()).not.toBe(before)
    const denied = shown.locator('section', { hasText: 'Most denied keys' })
    expect(await denied.getByText('honest').count()).toBe(0)
    expect(faults).toEqual([])
  },
)

test('two processes over Redis are shown as one, with the sums of both', async () => {
  const redis = await startRedis()
  const other = startNode<typeof import('../live/children/member.ts')>('insight/live/children/member.ts')
  const client = createRedis(redis.url)
  const channel = redisChannel(client, { tickMs: 50 })
  const insight = createInsight({ channel, secret: SECRET, privacy: 'full' })
  const limiter = createLimiter({
    policies: [{ name: 'api', limit: 100, window: '1h' }],
    observers: [insight],
  })
  session.closing.push(async () => {
    limiter.close()
    await insight.close()
    await other.stop()
    await channel.close()
    client.disconnect()
    await redis.stop()
  })
  await other.call('join', redis.url, SECRET)
  const { page, faults } = await session.shown(insight, {}, '#/policies/api')
  await until(page, '#scope', 'Showing 2 processes.')
  await other.call('take', 'acme', 110)
  for (let taken = 0; taken < 130; taken++) await limiter.take('acme')
  const row = (outcome: string, sum: string) =>
    page
      .locator('section', { hasText: 'Outcomes' })
      .locator('tr', { hasText: outcome })
      .locator('td', { hasText: new RegExp(`^${sum}$`) })
      .first()
      .waitFor(SOON)
  await row('allowed', '200')
  await row('denied', '40')
  expect(faults).toEqual([])
})

test('outdated data is marked, with the time since the last update', async () => {
  // the connection is open, but nothing arrives after the first update
  const page = dashboard({ insight: new WatchedFleet(), updateMs: 60_000 })
  const served = await listening(page)
  session.closing.push(async () => {
    page.close()
    await served.stop()
  })
  const { page: shown, faults } = await session.open(served.url)
  await until(shown, '#connection', 'Live')
  await shown.clock.install()
  await shown.clock.fastForward(10_000)
  await until(shown, '#connection', 'Stale, last update')
  expect(await shown.locator('#connection').textContent()).toMatch(/^Stale, last update \d+\u00a0s ago$/)
  expect(await shown.locator('body').getAttribute('class')).toBe('old')
  expect(faults).toEqual([])
})
