import { afterEach, describe, expect, test } from '@jest/globals'
import { createSluice } from '@sluice/express'
import { type BanInput, memoryBackend, type Observer } from '@sluice/limiter-core'
import { FakeClock, type RunningApp } from '@sluice/testkit'
import express from 'express'
import { running } from '../adapters/running-app.ts'
import { PromisedBackend } from '../contracts/async-backend.ts'
import { eventually } from '../services/eventually.ts'

let app: RunningApp | undefined

afterEach(() => app?.close())

type Options = NonNullable<Parameters<typeof createSluice>[0]>

interface Answer {
  readonly status: number
  readonly retryAfter: string | null
}

/** Serves `/login`, which fails unless the password is right. Returns a function that sends a password. */
async function serving(ban: BanInput, options: Options, limit = 50): Promise<(password: string) => Promise<Answer>> {
  const { rateLimit } = createSluice(options)
  const server = express()
  server.use(rateLimit({ name: 'login', limit, window: '1m', ban, key: () => 'client' }))
  server.get('/login', (req, res) => {
    const statuses: Record<string, number> = { right: 200, invalid: 422 }
    res.status(statuses[String(req.query.password)] ?? 401).send('')
  })
  app = await running(server)
  const { port } = app
  return async (password) => {
    const { status, headers } = await fetch(`http://127.0.0.1:${port}/login?password=${password}`)
    return { status, retryAfter: headers.get('retry-after') }
  }
}

const failures: BanInput = { after: 3, within: '1m', for: '10m', strikes: 'failures' }

describe.each([
  ['in memory', (clock: FakeClock) => memoryBackend({ clock })],
  ['asynchronous', (clock: FakeClock) => new PromisedBackend(clock)],
])('bans of requests %s', (_, backendOf) => {
  test('failed logins ban a client although the limit allows them', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const bans: unknown[] = []
    const observer: Observer = { event: (name, data) => void (name === 'ban' && bans.push(data)) }
    const login = await serving(failures, { backend: backendOf(clock), clock, observers: [observer] })
    expect((await login('right')).status).toBe(200)
    for (let times = 0; times < 3; times++) expect((await login('wrong')).status).toBe(401)
    // the strike is counted when the response has ended, which the client may observe first
    await eventually(async () => bans.length === 1, { what: 'the ban' })
    expect(await login('right')).toEqual({ status: 429, retryAfter: '600' })
    expect(bans).toEqual([{ key: 'client', policy: 'login', ms: 600_000, level: 0 }])
    clock.advance(600_000)
    expect((await login('right')).status).toBe(200)
  })

  test('only failures with the given statuses are strikes', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const bans: unknown[] = []
    const observer: Observer = { event: (name) => void (name === 'ban' && bans.push(name)) }
    const scans: BanInput = { ...failures, strikes: [401, 404], forgiveOn: 'success' }
    const login = await serving(scans, { backend: backendOf(clock), clock, observers: [observer] })
    for (let times = 0; times < 10; times++) expect((await login('invalid')).status).toBe(422)
    expect((await login('wrong')).status).toBe(401)
    expect((await login('wrong')).status).toBe(401)
    // neither a strike nor a success, which would clear the strikes
    expect((await login('invalid')).status).toBe(422)
    expect(bans).toEqual([])
    expect((await login('wrong')).status).toBe(401)
    await eventually(async () => bans.length === 1, { what: 'the ban' })
    expect((await login('right')).status).toBe(429)
  })

  test('a successful login clears the failures before it', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const login = await serving({ ...failures, forgiveOn: 'success' }, { backend: backendOf(clock), clock })
    for (let round = 0; round < 3; round++) {
      for (const password of ['wrong', 'wrong', 'right']) {
        expect((await login(password)).status).toBe(password === 'right' ? 200 : 401)
      }
      clock.advance(15_000)
      // a response has ended for the client slightly before it has ended for the server
      await login('right')
      await login('right')
      clock.advance(15_000)
    }
  })

  test('denied requests are strikes by default', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const login = await serving({ after: 3, within: '1m', for: '10m' }, { backend: backendOf(clock), clock }, 5)
    for (let times = 0; times < 8; times++) await login('wrong')
    expect(await login('right')).toEqual({ status: 429, retryAfter: '600' })
  })
})
