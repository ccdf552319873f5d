import { expect, test } from '@jest/globals'
import { memoryBackend, rateLimit } from '@sluice/express'
import type { Backend } from '@sluice/limiter-core'
import { sketchBackend } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import request from 'supertest'

/** Responses as a client receives them: two requests that pass, one that is denied, and one a window later. */
async function seen(clock: FakeClock, backend: Backend): Promise<unknown[]> {
  const app = express()
  app.use(rateLimit({ limit: 2, window: '1m', algorithm: 'fixed-window', backend, clock, key: () => 'a' }))
  app.get('/', (_req, res) => res.send('ok'))
  const answers: unknown[] = []
  for (const waitMs of [0, 5_000, 0, 55_000]) {
    clock.advance(waitMs)
    const { status, headers, text } = await request(app).get('/')
    const { ratelimit, 'ratelimit-policy': policy, 'retry-after': retryAfter, 'content-type': type } = headers
    answers.push({ status, ratelimit, policy, retryAfter, type, text })
  }
  return answers
}

test('Express sends the same headers as with the memory backend', async () => {
  const clocks = [new FakeClock(), new FakeClock()]
  const answers = await seen(clocks[0], sketchBackend({ clock: clocks[0] }))
  const ok = { status: 200, policy: '"default";q=2;w=60', retryAfter: undefined, type: 'text/html; charset=utf-8' }
  expect(answers).toEqual([
    { ...ok, ratelimit: '"default";r=1;t=60', text: 'ok' },
    { ...ok, ratelimit: '"default";r=0;t=55', text: 'ok' },
    {
      status: 429,
      policy: '"default";q=2;w=60',
      ratelimit: '"default";r=0;t=55',
      retryAfter: '55',
      type: 'application/problem+json',
      text: expect.stringContaining('"violated-policies":["default"]'),
    },
    { ...ok, ratelimit: '"default";r=1;t=60', text: 'ok' },
  ])
  expect(answers).toEqual(await seen(clocks[1], memoryBackend({ clock: clocks[1] })))
})
