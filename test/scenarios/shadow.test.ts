import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createSluice, inflightLimit, type Observer, rateLimit } from '@sluice/express'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import request from 'supertest'

function appOf(...middleware: express.RequestHandler[]): express.Express {
  const app = express()
  app.get('/', ...middleware, (_req, res) => {
    res.send('ok')
  })
  return app
}

async function statuses(app: express.Express, times: number): Promise<number[]> {
  const seen: number[] = []
  for (let asked = 0; asked < times; asked++) seen.push((await request(app).get('/')).status)
  return seen
}

describe('a planned limit runs in shadow mode next to the current limit', () => {
  let wouldDeny: string[]
  let app: express.Express

  beforeEach(() => {
    wouldDeny = []
    const observer: Observer = {
      decided: (_key, { verdicts }) => {
        for (const { shadow, allowed, policy } of verdicts) if (shadow && !allowed) wouldDeny.push(policy.name)
      },
    }
    const { rateLimit: limit } = createSluice({ clock: new FakeClock(), observers: [observer] })
    app = appOf(
      limit({
        policies: [
          { name: 'today', limit: 5, window: '1m' },
          { name: 'planned', limit: 2, window: '1m', mode: 'shadow' },
        ],
      }),
    )
  })

  test('it denies no request, and observers receive the requests it would deny', async () => {
    expect(await statuses(app, 5)).toEqual([200, 200, 200, 200, 200])
    expect(wouldDeny).toEqual(['planned', 'planned', 'planned'])
  })

  test('it is not visible to clients', async () => {
    const { headers } = await request(app).get('/')
    expect(headers['ratelimit-policy']).toBe('"today";q=5;w=60')
    expect(headers.ratelimit).not.toContain('planned')
  })

  test('the current limit continues to deny', async () => {
    expect(await statuses(app, 6)).toEqual([200, 200, 200, 200, 200, 429])
  })
})

describe('the limits of a process are switched by its environment', () => {
  afterEach(() => {
    delete process.env.SLUICE_MODE
  })

  test.each(['off', 'shadow'])(
    'SLUICE_MODE=%s: limits and caps deny no request, whatever modes the code sets',
    async (mode) => {
      process.env.SLUICE_MODE = mode
      const app = appOf(rateLimit({ limit: 1, window: '1m', mode: 'enforce' }), inflightLimit({ limit: 1 }))
      expect(await statuses(app, 3)).toEqual([200, 200, 200])
    },
  )

  test('SLUICE_MODE=enforce: limits in shadow mode in the code deny', async () => {
    process.env.SLUICE_MODE = 'enforce'
    expect(await statuses(appOf(rateLimit({ limit: 1, window: '1m', mode: 'shadow' })), 2)).toEqual([200, 429])
  })

  test('an unknown mode fails at start-up', () => {
    process.env.SLUICE_MODE = 'none'
    expect(() => rateLimit({ limit: 1, window: '1m' })).toThrow(/SLUICE_MODE: expected one of .*, received "none"/)
  })
})
