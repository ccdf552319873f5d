import { afterEach, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { pacedFetch } from '@sluice/overload'
import type { RunningApp } from '@sluice/testkit'
import express from 'express'
import { running } from '../adapters/running-app.ts'
import { sdks } from './sdks.ts'

let app: RunningApp | undefined
afterEach(() => app?.close())

test.each(sdks)('the client $name is not refused by a server whose fields its pacedFetch reads', async (sdk) => {
  const statuses: number[] = []
  const server = express()
  server.use((_req, res, next) => {
    res.once('finish', () => statuses.push(res.statusCode))
    next()
  })
  const limit = rateLimit({ limit: 10, window: '1s', algorithm: 'fixed-window', headers: sdk.name })
  server.post(sdk.path, limit, (_req, res) => void res.json(sdk.answer))
  app = await running(server)
  const url = `http://127.0.0.1:${app.port}`
  const fetch = pacedFetch(globalThis.fetch)
  await Promise.all(Array.from({ length: 16 }, () => sdk.ask(url, fetch)))
  expect(statuses).toEqual(Array(16).fill(200))
  const origin = fetch.stats().get(url)
  expect(origin).toMatchObject({ sent: 16, retried: 0, throttled: 0, waiting: 0, inFlight: 0 })
  expect(origin?.remaining).toBeGreaterThanOrEqual(0)
  await fetch.close()
})
