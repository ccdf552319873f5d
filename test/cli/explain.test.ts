import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createInsight, type Dashboard, dashboard, type Insight } from '@sluice/insight'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { type Listening, listening } from '../insight/page/open-page.ts'
import { sluice } from './run-sluice.ts'

const TOKEN = 'a token of enough characters'.replaceAll(' ', '-')
const KEY = '203.0.113.7'

let clock: FakeClock
let insight: Insight
let page: Dashboard
let served: Listening

beforeEach(async () => {
  clock = new FakeClock()
  insight = createInsight({ clock })
  page = dashboard({ insight, token: TOKEN, path: '/limits', clock })
  served = await listening(page)
  const policies = [
    { name: 'burst', limit: 5, window: '1m' },
    { name: 'daily', limit: 10_000, window: '1d' },
  ] as const
  const limiter = createLimiter({ policies, clock, observers: [insight] })
  for (let sent = 0; sent < 7; sent++) limiter.take(KEY)
})
afterEach(async () => {
  page.close()
  await served.stop()
  await insight.close()
})

const explain = (...args: string[]) =>
  sluice(['explain', `${served.url}limits`, ...args], { env: { SLUICE_TOKEN: TOKEN } })

describe('sluice explain', () => {
  test('says in words what each policy answers for a key', async () => {
    clock.advance(3_000)
    const { exitCode, stdout, stderr } = await explain(KEY)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toBe(`Key 203.0.113.x
  denied by 'burst': 5 of 5 requests used, 1 requested, retry in 57 s, counted in this process only
  allowed by 'daily': 5 of 10,000 requests used, full reset in 23 h 59 min, counted in this process only

Recent denials (this process only)
  WHEN     POLICY  ROUTE   TIMES
  3 s ago  burst   (none)      2
`)
  })

  test('explains a request of several units', async () => {
    const { stdout } = await explain('--cost', '6', 'acme')
    expect(stdout).toContain(', request of 6 units\n')
    expect(stdout).toContain("denied by 'burst': 0 of 5 requests used, 6 requested, can never be allowed")
  })

  test('finds a key by its id', async () => {
    const id = insight.snapshot().policies[0].topDenied[0].id
    expect((await explain('--id', id)).stdout).toContain("denied by 'burst'")
    const unknown = await explain('--id', 'x')
    expect(unknown).toMatchObject({ exitCode: 3, stdout: '', stderr: expect.stringContaining('404 Not Found: ') })
  })

  test('shows the changes that operators made', async () => {
    await insight.control({ action: 'block', key: KEY, by: 'ops', reason: 'flood', duration: '1h' })
    const { stdout } = await explain(KEY)
    expect(stdout).toContain('Changes by operators\n  block, for another 60 min, by ops (flood)\n')
  })

  test('writes the answer of the page as JSON', async () => {
    const { exitCode, stdout } = await explain('--json', KEY)
    expect(exitCode).toBe(0)
    const [burst] = JSON.parse(stdout).policies
    expect(burst).toMatchObject({ policy: 'burst', used: 5, requested: { allowed: false, retryAfterMs: 60_000 } })
  })

  test('accepts the address that a browser shows, and a token as an option', async () => {
    const shown = `${served.url}limits/#/policies/burst`
    const { exitCode } = await sluice(['explain', shown, KEY, '--token', TOKEN])
    expect(exitCode).toBe(0)
  })

  test('shows control characters of a key escaped', async () => {
    const { stdout } = await explain('\x1b]0;owned\x07\u202e')
    expect(stdout).not.toMatch(/[^\P{C}\n]/u)
  })

  test('exits with 3 and a reason if the page refuses the request', async () => {
    const refused = await sluice(['explain', `${served.url}limits`, KEY], { env: { SLUICE_TOKEN: `not-${TOKEN}` } })
    expect(refused).toEqual({
      ...{ exitCode: 3, stdout: '' },
      stderr: `error: ${served.url}limits/: 401 Unauthorized: Log in with the token of the dashboard. Set SLUICE_TOKEN to the token of the page.\n`,
    })
    const tooLong = await explain('k'.repeat(5_000))
    expect(tooLong).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('SLUICE_BAD_OPTION: explain: key: expected'),
    })
  })

  test.each([
    ['another page', '', /expected a live page|404/],
    ['a path that does not exist', 'limit', /404 Not Found: .* Is this the address of the live page\?/],
  ])('exits with 3 for the address of %s', async (_what, path, message) => {
    const { exitCode, stderr } = await sluice(['explain', served.url + path, KEY])
    expect(exitCode).toBe(3)
    expect(stderr).toMatch(message)
  })

  test('exits with 3 if nothing listens', async () => {
    const { url } = served
    await served.stop()
    const { exitCode, stderr } = await sluice(['explain', url, KEY])
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringMatching(/^error: http.*ECONNREFUSED/) })
  })

  test.each([
    ['localhost:3000/limits', 'received localhost:3000/limits'],
    ['ftp://localhost/', 'expected an address such as http://localhost:3000/limits'],
    ['http://ops:hunter2@localhost/', 'expected an address without user, password and query'],
    ['http://localhost/?token=hunter2', 'pass a token in SLUICE_TOKEN'],
  ])('refuses the address %s without repeating a secret', async (url, message) => {
    const { exitCode, stderr } = await sluice(['explain', url, KEY])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('hunter2')
  })

  test('refuses a token that a header cannot contain, without showing it', async () => {
    const { exitCode, stderr } = await sluice(['explain', served.url, KEY, '--token', 'hunter2\n'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.not.stringContaining('hunter2') })
  })
})
