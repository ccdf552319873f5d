import type { AddressInfo } from 'node:net'
import {
  type CounterReading,
  type Counters,
  counterClient,
  createCounters,
  digestCounters,
  shardedCounters,
  type UniqueCounters,
  uniqueCounters,
} from '@sluice/counters'
import { embeddedLedger, postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import { rateLimit } from '@sluice/express'
import { createQuotas, type QuotaBalance, quota } from '@sluice/quotas'
import { createRedis } from '@sluice/redis'
import express from 'express'
import { Pool } from 'pg'

const counters: Counters = createCounters()

const app = express()
app.use(rateLimit({ limit: 1, window: '1m' }))
app.get('/', async (_req, res) => {
  res.send(`hello ${(await counters.increment('asked')).value}`)
})

// the code below is not called: it must only compile
export const others = async (): Promise<unknown[]> => {
  const ledger = postgresLedger(new Pool())
  const hot = redisCounters({ a: createRedis('redis://a'), b: createRedis('redis://b') }, { ledger, flushMs: '1s' })
  const embedded = createCounters({ ledger: await embeddedLedger({ folder: 'counters' }) })
  const page: readonly CounterReading[] = await counterClient({ url: 'http://localhost' }).readMany('a', { limit: 10 })
  const uniques: UniqueCounters = uniqueCounters({ ledger, days: 7 })
  const quotas = createQuotas(ledger, { onUsed: ({ threshold }) => console.log(threshold > 80) })
  const { left }: QuotaBalance = await quotas.balance('acme', { policy: 'monthly' })
  const monthly = quota({ name: 'monthly', limit: 100, per: 'month', anchor: 31, backend: quotas })
  const p99: number | undefined = await digestCounters({ ledger }).hour('a', 0.99)
  return [
    p99,
    left,
    monthly.limit,
    uniques.day('a', { days: 7 }),
    page,
    hot.incrementMany({ a: 1 }, { token: 't' }),
    shardedCounters(embedded).increment('b', 2, { durable: true }),
  ]
}

const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.stdin.resume().once('end', () => server.close())
