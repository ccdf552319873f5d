import { expect, test } from '@jest/globals'
import { inflightLimit, rateLimit } from '@sluice/express'
import { until, Watcher } from '@sluice/testkit'
import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { impatient, served } from '../scenarios/served.ts'

/** Hangs for clients that send `?hang`, and returns `value` for all others. */
function hanging<T>(value: T, asked: () => void): (req: { url?: string }) => T {
  const never = new Promise<never>(() => {})
  return ({ url = '' }) => {
    if (!url.includes('hang')) return value
    asked()
    return never as T
  }
}

type Built = (hook: <T>(value: T) => (req: { url?: string }) => T) => RequestHandler
const rate = rateLimit as (options: object) => RequestHandler
const cap = inflightLimit as (options: object) => RequestHandler
const WIDE = { limit: 9, window: '1m' } as const

test.each<[string, Built]>([
  ['key', (hook) => rate({ ...WIDE, key: hook('ann') })],
  ['cost', (hook) => rate({ ...WIDE, cost: hook(1) })],
  ['skip', (hook) => rate({ ...WIDE, skip: hook(false) })],
  ['plan', (hook) => rate({ plans: { free: [WIDE] }, plan: hook('free') })],
  ['key of a cap', (hook) => cap({ limit: 9, key: hook('ann') })],
  ['weight', (hook) => cap({ limit: 9, weight: hook(1) })],
  [
    'denied',
    (hook) => rate({ ...WIDE, cost: ({ url = '' }) => (url.includes('hang') ? 99 : 1), denied: hook(undefined) }),
  ],
])(
  'a %s that hangs blocks only its own client, and holds no permit after that client disconnects',
  async (_what, built) => {
    let asked = 0
    const before = new Watcher()
    const app = express()
    app.use(inflightLimit({ name: 'before', limit: 2, observers: [before] }))
    app.use(built((value) => hanging(value, () => asked++)))
    app.get('/', (_req, res) => {
      res.send('ok')
    })
    await served(app, async (url) => {
      const stuck = impatient(`${url}/?hang`)
      await until(() => asked === 1)
      for (let time = 0; time < 3; time++) expect((await request(url).get('/')).status).toBe(200)
      await until(() => before.held === 1)
      stuck.destroy()
      await until(() => before.held === 0)
    })
  },
)
