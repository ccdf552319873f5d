import { expect, test } from '@jest/globals'
import { rateLimit, sluiceOf } from '@sluice/fetch'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { eventually } from '../../services/eventually.ts'

test('a report of the largest cost uses the limit up, and is spent at the end with all others', async () => {
  const backend = memoryBackend()
  const policy = { name: 'tokens', limit: 100, window: '1h', algorithm: 'fixed-window', maxHoldMs: '10m' } as const
  const limiter = createLimiter({ policies: [policy], backend, shared: true })
  const cost = { reserve: 10, extend: 'stream', extendBy: 60 } as const
  const limit = rateLimit({ ...policy, backend, shared: true, key: () => 'a', cost })
  const answers: unknown[] = []
  const handle = limit.wrap(async (request) => {
    const sluice = sluiceOf(request)
    answers.push(await sluice?.used(Number.MAX_SAFE_INTEGER), await sluice?.used(5))
    return new Response('done')
  })
  await (await handle(new Request('http://localhost/'))).text()
  expect(answers).toEqual([false, false])
  await eventually(async () => limiter.peek('a').binding.remaining === 0, { what: 'a used limit' })
  limit.close()
  await limiter.close()
})
