import { test } from '@jest/globals'
import { createSluice } from '@sluice/hono'
import { until } from '@sluice/testkit'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { collectGarbage } from '../../fetch/dropped/collect-garbage.ts'

test('events that middleware drops release their place, also if their cost is settled', async () => {
  const { rateLimit, inflightLimit } = createSluice({})
  const cap = inflightLimit({ name: 'streams', limit: 10 })
  const cost = { reserve: 2, settle: () => 1, settleOn: 'always' as const }
  const app = new Hono()
  app.use(async (_c, next) => {
    await next()
    throw 'not an error' as unknown as Error
  })
  app.use(cap, rateLimit({ limit: 100, window: '1m', key: () => 'all', cost }))
  app.get('/', (c) =>
    streamSSE(c, async (events) => {
      for (let turn = 0; turn < 200 && !events.aborted; turn++) await events.writeSSE({ data: 'a' })
    }),
  )
  for (let turn = 0; turn < 3; turn++) await Promise.resolve(app.request('/')).catch(() => {})
  await until(() => {
    collectGarbage()
    return cap.limiter.count() === 0
  })
})
