import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import { running } from '../../adapters/running-app.ts'

test('20 clients of one key that honour Retry-After are each admitted on their first return', async () => {
  const clock = new FakeClock()
  const app = express()
  app.use(
    rateLimit({ limit: 3, window: '10s', key: () => 'team', retry: 'booked', headers: ['draft', 'legacy'], clock }),
  )
  app.get('/', (_req, res) => res.end('ok'))
  const server = await running(app)
  const send = (): Promise<Response> => fetch(`http://127.0.0.1:${server.port}/`)
  const first = await Promise.all(Array.from({ length: 20 }, send))
  const denied = first.filter(({ status }) => status === 429)
  const waits = denied.map(({ headers }) => Number(headers.get('retry-after'))).sort((a, b) => a - b)
  expect(waits).toHaveLength(17)
  for (const { headers } of denied)
    expect(headers.get('ratelimit')).toBe(`"default";r=0;t=${headers.get('retry-after')}`)
  let passedMs = 0
  const statuses: number[] = []
  for (const seconds of waits) {
    clock.advance(seconds * 1_000 - passedMs)
    passedMs = seconds * 1_000
    statuses.push((await send()).status)
  }
  expect(statuses).toEqual(waits.map(() => 200))
  await server.close()
})
