import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { expect, test } from '@jest/globals'
import { DENY, memoryBackend, type RequestPolicy, rateLimit } from '@sluice/node-http'
import { FakeClock } from '@sluice/testkit'
import { endedAfterEach } from '../../services/for-tests.ts'

const open = endedAfterEach<Server>((one) => one.close())

type Policies = readonly RequestPolicy<IncomingMessage, ServerResponse>[]

/** Returns a function that sends a request and returns its `RateLimit-Policy`. */
async function served(policies: Policies): Promise<() => Promise<string>> {
  const clock = new FakeClock({ nowMs: 1_000 })
  const limit = rateLimit({ policies, backend: memoryBackend({ clock }), clock, key: () => 'a' })
  const server = createServer((req, res) => limit(req, res, () => res.end()))
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return async () => {
    const { status, headers } = await fetch(`http://127.0.0.1:${port}/`)
    return `${status} ${headers.get('ratelimit-policy')} | ${headers.get('ratelimit')}`
  }
}

const BY_PLAN = { name: 'plan', limit: () => 7, window: '1h' } as const

test('a limit of the request that was not decided is not shown: a key source denies', async () => {
  const send = await served([{ name: 'known', limit: 5, window: '1m', key: () => DENY }, BY_PLAN])
  expect(await send()).toBe('429 "known";q=5;w=60 | "known";r=0')
})

test('a limit of the request that was not decided is not shown: a ban denies', async () => {
  const ban = { after: 1, within: '1m', for: '10m' } as const
  const send = await served([{ name: 'known', limit: 1, window: '1m', ban }, BY_PLAN])
  expect(await send()).toBe('200 "known";q=1;w=60, "plan";q=7;w=3600 | "known";r=0;t=60, "plan";r=6;t=3600')
  await send()
  expect(await send()).toBe('429 "known";q=1;w=60 | "known";r=0;t=600')
})
