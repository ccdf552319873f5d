import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { inflightLimit, rateLimit } from '@sluice/node-http'
import { Warnings } from '@sluice/testkit'
import { collectGarbage } from '../../fetch/dropped/collect-garbage.ts'

const warnings = new Warnings()

beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

const CODE = 'SLUICE_LIMITER_IN_HANDLER'

interface Ask {
  readonly tenant?: string
  readonly method?: string
  readonly headers?: Record<string, string>
}

/** Sends requests one after another. Returns the number of warnings about limiters that were created meanwhile. */
async function warningsOf(
  handler: RequestListener,
  requests: readonly Ask[],
  between = async () => {},
): Promise<number> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const { tenant = 'a', method = 'GET', headers = {} } of requests) {
    const response = await fetch(`${origin}/${tenant}`, { method, headers, ...(method === 'POST' && { body: tenant }) })
    await response.arrayBuffer()
    await between()
  }
  server.close()
  server.closeAllConnections()
  return warnings.codes.filter((code) => code === CODE).length
}

type Limit = (req: Parameters<RequestListener>[0], res: Parameters<RequestListener>[1], next: () => void) => void

const KINDS: Readonly<Record<string, () => () => Limit>> = {
  rateLimit: () => () => rateLimit({ limit: 100, window: '1m' }) as unknown as Limit,
  inflightLimit: () => () => inflightLimit({ limit: 100 }) as unknown as Limit,
}

/** Handles requests with a limiter that `limitOf` returns for the tenant. */
function handlerOf(limitOf: (tenant: string) => Limit): RequestListener {
  return (req, res) => limitOf((req.url as string).slice(1))(req, res, () => res.end('ok'))
}

function keeping(create: () => Limit): RequestListener {
  const limits = new Map<string, Limit>()
  return handlerOf((tenant) => {
    const limit = limits.get(tenant) ?? create()
    limits.set(tenant, limit)
    return limit
  })
}

describe.each(Object.keys(KINDS))('%s', (kind) => {
  const create = KINDS[kind]()

  test('a limiter that is kept for each tenant is not reported', async () => {
    const requests = ['a', 'b', 'c', 'd', 'a', 'b', 'e', 'a', 'f'].map((tenant) => ({ tenant }))
    const posts = requests.map((request) => ({ ...request, method: 'POST' }))
    expect(await warningsOf(keeping(create), requests)).toBe(0)
    expect(await warningsOf(keeping(create), posts, collected)).toBe(0)
  })

  test('a limiter that is created for each request is reported at the second equal request', async () => {
    expect(await warningsOf(handlerOf(create), [{ tenant: 'a' }, { tenant: 'b' }, { tenant: 'c' }])).toBe(0)
    expect(await warningsOf(handlerOf(create), [{ tenant: 'd' }, { tenant: 'd' }])).toBe(1)
  })

  test('a limiter that is created for each request is reported when it was collected, if all requests differ', async () => {
    const requests = ['1', '2', '3'].map((id) => ({ method: 'POST', headers: { 'x-request-id': id } }))
    expect(await warningsOf(handlerOf(create), requests, collected)).toBe(1)
  })
})

/** Ends the current job, which keeps what it has referred to weakly, and collects garbage. */
async function collected(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await setImmediate()
    collectGarbage()
  }
}
