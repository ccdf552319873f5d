import { expect, test } from '@jest/globals'
import { rateLimit, sluiceOf } from '@sluice/fetch'
import { FakeClock } from '@sluice/testkit'

// the window was refused with the limit that a policy has until the first request, one unit per ms of a minute
test('a window from a function may be shorter than a minute for gcra with a limit from a function', async () => {
  const limit = rateLimit({
    limit: () => 5,
    window: () => '10s' as const,
    algorithm: 'gcra',
    key: () => 'a',
    clock: new FakeClock(),
  })
  const handle = limit.wrap(() => new Response(null))
  const request = new Request('http://x/')
  await handle(request)
  expect(sluiceOf(request)?.decision?.binding.policy).toMatchObject({ limit: 5, windowMs: 10_000 })
  limit.close()
})
