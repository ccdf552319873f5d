import { createRequire } from 'node:module'
import { expect, test } from '@jest/globals'
import { type Clock, slowDown } from '@sluice/express'
import { FakeClock } from '@sluice/testkit'
import express, { type Request, type RequestHandler } from 'express'
import request from 'supertest'

const theirs: (options: object) => RequestHandler = createRequire(import.meta.url)('express-slow-down').slowDown

/** A stopped clock on which every wait ends at once; records the length of each wait. */
class Hurry extends FakeClock implements Clock {
  readonly waits: number[] = []

  override after(ms: number, run: () => void): () => void {
    this.waits.push(ms)
    const pending = setImmediate(run)
    return () => clearImmediate(pending)
  }
}

async function delaysOf(limit: RequestHandler, delay: (req: Request) => number, asks = 9): Promise<number[]> {
  const app = express().use(limit)
  app.get('/', (req, res) => {
    res.json(delay(req))
  })
  const delays: number[] = []
  for (let asked = 0; asked < asks; asked++) delays.push((await request(app).get('/')).body)
  return delays
}

test('requests wait as long as behind express-slow-down: no delay, then growing delays, then the maximum', async () => {
  const before = await delaysOf(
    theirs({ windowMs: 60_000, delayAfter: 3, delayMs: (used: number) => (used - 3) * 2, maxDelayMs: 7 }),
    (req) => (req as unknown as { slowDown: { delay: number } }).slowDown.delay,
  )
  const clock = new Hurry()
  const delay = (): number => clock.waits.splice(0).reduce((sum, ms) => sum + ms, 0)
  const after = await delaysOf(
    slowDown({ after: 3, window: '1m', algorithm: 'fixed-window', delayMs: 2, maxDelayMs: 7, clock }),
    delay,
  )
  expect(before).toEqual([0, 0, 0, 2, 4, 6, 7, 7, 7])
  expect(after).toEqual(before)
})

test('a constant delay above the limit is the same for both', async () => {
  const before = await delaysOf(
    theirs({ windowMs: 60_000, delayAfter: 2, delayMs: () => 5 }),
    (req) => (req as unknown as { slowDown: { delay: number } }).slowDown.delay,
    5,
  )
  const clock = new Hurry()
  const after = await delaysOf(
    slowDown({ after: 2, window: '1m', delayMs: () => 5, maxDelayMs: '10s', clock }),
    () => clock.waits.splice(0).reduce((sum, ms) => sum + ms, 0),
    5,
  )
  expect(before).toEqual([0, 0, 5, 5, 5])
  expect(after).toEqual(before)
})
