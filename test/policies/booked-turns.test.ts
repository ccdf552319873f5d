import { afterAll, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { memoryBackend } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import express, { type Request, type Response } from 'express'
import request from 'supertest'
import { combinedLine, LOG_START } from '../cli/log-lines.ts'
import { CommandFolder, compared, replayed } from '../cli/replay-run.ts'
import { TextSource } from './text-source.ts'

const folder = new CommandFolder()
afterAll(() => folder.remove())

const BOOKED = { name: 'a', limit: 2, per: '1m', retry: 'booked' }
const document = (policy: object): string => JSON.stringify({ version: 1, policies: [policy] })

function served(policy: object) {
  const clock = new FakeClock({ nowMs: 0 })
  const source = new TextSource(document(policy))
  const options = policies<Request, Response>(source, {
    attributes: { team: () => 'red', plan: (req) => req.get('x-plan') },
  })
  const app = express().use(
    rateLimit({ ...options, backend: memoryBackend({ clock }), clock }),
    (_req, res) => void res.send('ok'),
  )
  /** Returns the seconds of `Retry-After`, or 0 if the request was allowed. */
  const waitS = async (plan = 'free'): Promise<number> => {
    const { headers } = await request(app).get('/').set('x-plan', plan)
    return Number(headers['retry-after'] ?? 0)
  }
  const change = async (next: object): Promise<void> => {
    source.text = document(next)
    await options.policies.reload()
  }
  const advanceS = (seconds: number): void => clock.advance(seconds * 1_000)
  return { waitS, change, advanceS }
}

test('a policy of a file books turns for its denied clients', async () => {
  const { waitS, advanceS } = served(BOOKED)
  expect([await waitS(), await waitS(), await waitS(), await waitS()]).toEqual([0, 0, 60, 91])
  advanceS(60)
  expect([await waitS(), await waitS()]).toEqual([0, 62])
  advanceS(31)
  expect(await waitS()).toBe(0)
})

test('limits by plan book turns of one count', async () => {
  const { waitS } = served({ ...BOOKED, key: 'team', limit: { free: 1, pro: 2 }, algorithm: 'sliding-log' })
  expect([await waitS('pro'), await waitS('pro'), await waitS('pro'), await waitS('free')]).toEqual([0, 0, 60, 91])
})

test('a reload that begins or stops to book turns keeps the usage of keys', async () => {
  const { retry: _retry, ...plain } = BOOKED
  const { waitS, change, advanceS } = served(plain)
  expect([await waitS(), await waitS(), await waitS(), await waitS()]).toEqual([0, 0, 60, 60])
  await change(BOOKED)
  expect([await waitS(), await waitS()]).toEqual([60, 91])
  advanceS(1)
  await change(plain)
  expect([await waitS(), await waitS()]).toEqual([59, 59])
  advanceS(59)
  expect([await waitS(), await waitS(), await waitS()]).toEqual([0, 0, 60])
})

test('sluice replay books turns as a server does', async () => {
  // two requests are allowed, two book turns at 60 and 91 seconds, and a newcomer cannot take the second turn
  const lines = [0, 0, 0, 0, 60, 70].map((second) => `${combinedLine({ timeMs: LOG_START + second * 1_000 })}\n`)
  const log = folder.file('access.log', lines.join(''))
  const { retry: _retry, ...plain } = BOOKED
  const [before, after] = [folder.file('a.json', document(plain)), folder.file('b.json', document(BOOKED))]
  expect((await replayed([log], { policies: before })).total).toMatchObject({ requests: 6, denied: 2 })
  expect((await replayed([log], { policies: after })).total).toMatchObject({ requests: 6, denied: 3 })
  // the newcomer is denied because of the turn
  const { denied } = await compared(before, after, { log: [log] })
  expect(denied).toEqual({ before: 2, after: 3 })
})
