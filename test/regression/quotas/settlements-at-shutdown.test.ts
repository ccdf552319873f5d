import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { type RequestSluice, rateLimit } from '@sluice/express'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import express from 'express'

function monthly(quotas: Quotas) {
  return quota({ limit: 1_000, per: 'month', maxHoldMs: '10m', backend: quotas })
}

// the server reports that it is closed before its responses do
test('`idle` of a rate limit waits until the costs of broken-off responses have been settled', async () => {
  const clock = new FakeClock()
  const ledger = new MemoryLedger(clock)
  const options = { clock, serverTime: () => clock.wall() }
  const quotas = createQuotas(ledger, options)
  const cost = { reserve: 100, extend: 'stream' } as const
  const limits = rateLimit({ key: () => 'acme', policies: [{ ...monthly(quotas), cost }] })
  await limits.idle()
  const app = express()
  app.get('/', limits, async (req, res) => {
    res.write('a part')
    await (req.sluice as RequestSluice).used(130)
  })
  const server = createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const responses = [1, 2, 3].map(() => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  for (const response of await Promise.all(responses)) response.text().catch(() => {})
  server.close()
  server.closeAllConnections()
  await limits.idle()
  limits.close()
  await quotas.close()

  // what the next process reads
  const next = createQuotas(ledger, options)
  const reading = rateLimit({ key: () => 'acme', policies: [monthly(next)] })
  expect(await next.balance('acme')).toMatchObject({ used: 390, held: 0 })
  reading.close()
  await next.close()
})
