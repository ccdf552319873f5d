import { expect, test } from '@jest/globals'
import { type FetchReply, rateLimit } from '@sluice/fetch'
import { policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import { TextSource } from '../../policies/text-source.ts'

const fileOf = (per: string): string =>
  JSON.stringify({
    version: 1,
    policies: [{ name: 'api', limit: { free: 5, pro: 10 }, per, algorithm: 'fixed-window' }],
  })

// a limiter remembers the limit and the window of the last request of a key
test('a limiter uses the window of a reloaded policy for keys of earlier requests', async () => {
  const source = new TextSource(fileOf('30s'))
  const loaded = policies<Request, FetchReply>(source, { attributes: { plan: () => 'free' } })
  const limit = rateLimit({ ...loaded, clock: new FakeClock() })
  const handle = limit.wrap(() => new Response(null))
  await handle(new Request('http://x/'), { ip: '192.0.2.1' })
  source.text = fileOf('60s')
  await loaded.policies.reload()
  expect((await limit.limiter.peek('192.0.2.1', 0)).binding).toMatchObject({
    remaining: 4,
    policy: { limit: 5, windowMs: 60_000 },
  })
  limit.close()
})
