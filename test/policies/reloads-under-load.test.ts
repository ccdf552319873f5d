import { expect, test } from '@jest/globals'
import { type FetchReply, rateLimit } from '@sluice/fetch'
import { memoryBackend } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import { TextSource } from './text-source.ts'

const REQUESTS = 10_000
const EVERY = 100
const LIMIT = 75

test('a hundred reloads during 10,000 requests drop none, and change the usage of no key', async () => {
  const documentOf = (reload: number): string => {
    const users = { name: 'users', key: 'user', limit: LIMIT, per: `${1 + (reload % 3)}h` }
    const other = { name: `other-${reload % 5}`, limit: 1_000_000, per: '1m', unit: 'others' }
    return JSON.stringify({ version: 1, policies: [users, other] })
  }
  const source = new TextSource(documentOf(0))
  const options = policies<Request, FetchReply>(source, {
    watch: true,
    attributes: { user: async (request) => request.headers.get('x-user') ?? undefined },
  })
  // windows that slide meanwhile would round parts of units
  const clock = new FakeClock()
  const limit = rateLimit({ ...options, backend: memoryBackend({ clock }), clock })
  const handle = limit.wrap(() => new Response('ok'))
  const statuses = new Map<number, number>()
  const started = systemClock.now()
  const answers: Promise<void>[] = []
  for (let sent = 0; sent < REQUESTS; sent++) {
    if (sent % EVERY === EVERY - 1) source.text = documentOf(sent)
    const request = new Request('http://localhost/', { headers: { 'x-user': `user-${sent % 100}` } })
    answers.push(
      (async () => {
        const { status } = await handle(request)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      })(),
    )
    if (sent % 50 === 0) await answers[sent - 40]
  }
  await Promise.all(answers)
  const perSecond = Math.round((REQUESTS / (systemClock.now() - started)) * 1_000)
  process.stdout.write(`${REQUESTS} requests with ${REQUESTS / EVERY} reloads: ${perSecond} requests a second\n`)
  expect(Object.fromEntries(statuses)).toEqual({ 200: 100 * LIMIT, 429: REQUESTS - 100 * LIMIT })
  options.policies.close()
  limit.close()
})
