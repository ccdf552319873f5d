import { beforeEach, expect, jest, test } from '@jest/globals'
import { durableObjectBackend } from '@sluice/cloudflare'
import { byHeader, rateLimit } from '@sluice/fetch'
import { policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import { InProcessObjects } from '../cloudflare/in-process-objects.ts'
import { TextSource } from '../policies/text-source.ts'

beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})

const ok = (): Response => new Response('ok')
const asked = (): Request => new Request('https://api.example/', { headers: { 'x-user': 'anna' } })

test('policies of a file are shown by their unit, also after a change', async () => {
  const documentOf = (limit: number): string =>
    JSON.stringify({ version: 1, policies: [{ name: 'budget', key: 'user', limit, per: '1m', unit: 'tokens' }] })
  const source = new TextSource(documentOf(40))
  const options = policies<Request, unknown>(source, {
    attributes: { user: (request) => request.headers.get('x-user') ?? undefined },
  })
  const handle = rateLimit({ ...options, headers: 'openai' }).wrap(ok)
  const shown = async (): Promise<(string | null)[]> => {
    const { headers } = await handle(asked())
    return ['limit', 'remaining'].map((field) => headers.get(`x-ratelimit-${field}-tokens`))
  }
  expect(await shown()).toEqual(['40', '39'])
  source.text = documentOf(50)
  await options.policies.reload()
  expect(await shown()).toEqual(['50', '48'])
})

test('counts in Durable Objects have the same fields', async () => {
  const clock = new FakeClock()
  const backend = durableObjectBackend(new InProcessObjects(), { clock, serverTime: () => clock.now() })
  const key = byHeader('x-user')
  const handle = rateLimit({ limit: 1, window: '90s', key, backend, clock, headers: 'anthropic' }).wrap(ok)
  expect((await handle(asked())).headers.get('anthropic-ratelimit-requests-reset')).toBe('2026-01-01T00:01:30Z')
  clock.advance(60_250)
  const { status, headers } = await handle(asked())
  const waits = ['retry-after', 'retry-after-ms'].map((name) => headers.get(name))
  expect([status, ...waits]).toEqual([429, '30', '29750'])
  clock.advance(29_750)
  expect((await handle(asked())).status).toBe(200)
})
