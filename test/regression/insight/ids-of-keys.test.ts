import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createInsight, type Dashboard, dashboard, type Insight } from '@sluice/insight'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { sluice } from '../../cli/run-sluice.ts'
import { type Listening, listening } from '../../insight/page/open-page.ts'

const TOKEN = 'a-token-of-enough-characters'

let insight: Insight
let page: Dashboard
let served: Listening
const clock = new FakeClock()

async function serve(privacy: 'mask' | 'hash' | 'full'): Promise<void> {
  insight = createInsight({ clock, privacy, secret: 'a secret that all processes share' })
  page = dashboard({ insight, token: TOKEN, path: '/limits', clock })
  served = await listening(page)
}

beforeEach(() => clock.advance(60_000))
afterEach(async () => {
  page.close()
  await served.stop()
  await insight.close()
})

// one id in 64 began with a dash, which commands read as an option
test.each(['mask', 'hash'] as const)('ids of keys begin with a letter or a digit (%s)', async (privacy) => {
  await serve(privacy)
  const limiter = createLimiter({ limit: 1, window: '1m', clock, observers: [insight] })
  for (let key = 0; key < 400; key++) for (let sent = 0; sent < 2; sent++) limiter.take(`key ${key}`)
  const ids = insight.snapshot().policies[0].topDenied.map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(9)
  expect(ids.filter((id) => !/^[\da-f]{16,24}$/.test(id))).toEqual([])
})

test('a key that begins with a dash is explained after --', async () => {
  await serve('full')
  const limiter = createLimiter({ limit: 1, window: '1m', clock, observers: [insight] })
  for (let sent = 0; sent < 2; sent++) limiter.take('-42')
  const { exitCode, stdout } = await sluice(['explain', `${served.url}limits`, '--', '-42'], {
    env: { SLUICE_TOKEN: TOKEN },
  })
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^Key -42\n {2}denied by /) })
})
