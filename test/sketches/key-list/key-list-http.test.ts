import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { allowList, blockList, joinedKey } from '@sluice/sketches/limits'
import { Warnings } from '@sluice/testkit'
import express, { type Express } from 'express'
import request from 'supertest'

const warnings = new Warnings()
beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

describe('key lists on an Express app', () => {
  test('an allow list skips a limit based on the promise of its answer', async () => {
    const partners = new Set(['key-of-a-partner'])
    const list = allowList({ capacity: 1000, exact: async (key) => partners.has(key) })
    list.addAll(partners)
    const app = express()
    app.use(rateLimit({ limit: 1, window: '1m', skip: (req) => list.has(req.get('x-api-key') ?? '') }))
    app.get('/', (_req, res) => void res.send('ok'))

    const statuses = async (key: string): Promise<number[]> => {
      const all: number[] = []
      for (let n = 0; n < 3; n++) all.push((await request(app).get('/').set('x-api-key', key)).status)
      return all
    }
    expect(await statuses('key-of-a-partner')).toEqual([200, 200, 200])
    expect(await statuses('another key')).toEqual([200, 429, 429])
  })

  test('an allow list whose database is down limits its members like other clients', async () => {
    const list = allowList({ capacity: 10, exact: () => Promise.reject(new Error('down')) })
    list.add('partner')
    const app = express()
    app.use(rateLimit({ limit: 1, window: '1m', skip: (req) => list.has(req.get('x-api-key') ?? '') }))
    app.get('/', (_req, res) => void res.send('ok'))
    const ask = (): request.Test => request(app).get('/').set('x-api-key', 'partner')
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 429])
  })

  function appWithBlocked(exact: (key: string) => Promise<boolean>): Express {
    const hidden = blockList({ capacity: 1000, exact })
    hidden.add(joinedKey('ann', '7'))
    const app = express()
    app.get('/content/:id', async (req, res) => {
      const seen = await hidden.has(joinedKey(req.get('x-user') ?? '', req.params.id))
      res.sendStatus(seen ? 403 : 200)
    })
    return app
  }

  test.each([
    ['answers', async () => true],
    ['is down', () => Promise.reject(new Error('down'))],
  ])(
    'a block list of users and contents responds 403 to that user for that content while its database %s',
    async (_what, exact) => {
      const app = appWithBlocked(exact)
      const statusOf = async (user: string, content: string): Promise<number> =>
        (await request(app).get(`/content/${content}`).set('x-user', user)).status
      expect(await statusOf('ann', '7')).toBe(403)
      expect(await statusOf('ann', '8')).toBe(200)
      expect(await statusOf('bob', '7')).toBe(200)
    },
  )
})
