import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from '@jest/globals'
import { limitUpgrade, memoryBackend } from '@sluice/node-http'
import { policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import { TextSource } from '../../policies/text-source.ts'

const document = (limit: number): string => JSON.stringify({ version: 1, policies: [{ name: 'a', limit, per: '1m' }] })

test('the limiter of a limit on upgrades has the policies of a file after a reload', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const source = new TextSource(document(100))
  const options = policies<IncomingMessage, ServerResponse>(source, {})
  const limit = limitUpgrade({ rateLimit: { ...options, backend: memoryBackend({ clock }), clock } })
  expect(limit.limiter?.policies).toMatchObject([{ limit: 100 }])
  source.text = document(200)
  await options.policies.reload()
  expect(limit.limiter?.policies).toMatchObject([{ limit: 200 }])
  limit.close()
})
