import { beforeEach, describe, expect, test } from '@jest/globals'
import { byPrincipal, createSluice } from '@sluice/express'
import { FakeClock } from '@sluice/testkit'
import express, { type Express, type Request } from 'express'
import request from 'supertest'

const algorithms = ['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] as const

describe.each(algorithms)('a plan is upgraded during a window (%s)', (algorithm) => {
  let clock: FakeClock
  let app: Express
  let plan: 'free' | 'pro'

  beforeEach(() => {
    clock = new FakeClock()
    plan = 'free'
    app = express()
    const { rateLimit } = createSluice({ clock })
    const plans = {
      free: [{ name: 'requests', limit: 10, window: '1h', algorithm }],
      pro: [{ name: 'requests', limit: 50, window: '1h', algorithm }],
    } as const
    const user = (req: Request): string | undefined => req.get('x-user')
    app.use(rateLimit({ key: byPrincipal(user), plans, plan: () => plan }))
    app.get('/', (_req, res) => {
      res.send('ok')
    })
  })

  const ask = () => request(app).get('/').set('x-user', 'anna')
  const passed = async (times: number): Promise<number> => {
    let count = 0
    for (let asked = 0; asked < times; asked++) if ((await ask()).status === 200) count++
    return count
  }

  test('and keeps the used units', async () => {
    expect(await passed(12)).toBe(10)
    plan = 'pro'
    expect(await passed(60)).toBe(40)
  })

  test('and takes effect at once, also in the limit sent to the client', async () => {
    await passed(12)
    plan = 'pro'
    const { headers } = await ask()
    expect(headers['ratelimit-policy']).toBe('"requests";q=50;w=3600')
    expect(headers.ratelimit).toContain('r=39;')
  })

  test('and downgraded: a client that has used more than the smaller plan allows must wait', async () => {
    plan = 'pro'
    expect(await passed(30)).toBe(30)
    plan = 'free'
    expect(await passed(12)).toBe(0)
    const denied = await ask()
    clock.advance(Number(denied.headers['retry-after']) * 1_000)
    expect((await ask()).status).toBe(200)
  })
})
