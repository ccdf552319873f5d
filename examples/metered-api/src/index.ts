// An API with three paid plans: node examples/metered-api/dist/index.js
//
// By default quotas are stored in the folder .metered-api; POSTGRES_URL stores them in PostgreSQL, for any number of
// processes. PORT: default 3000.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { byHeader, rateLimit } from '@sluice/express'
import { createQuotas } from '@sluice/quotas'
import express from 'express'
import { openDatabase } from './database.ts'
import { customers, plansOn } from './plans.ts'

const { ledger, where, close } = await openDatabase(process.env)
const quotas = createQuotas(ledger, {
  leaseMs: '2s',
  onUsed: ({ key, threshold, included }) => console.log(`mail to ${key}: ${threshold} % of ${included} calls used`),
})
const MONTH_MS = 31 * 86_400_000

const app = express()
app.get('/', (_req, res) => {
  res.json({
    'GET /words': 'one call, with an x-api-key: key-ada, key-bob or key-eve',
    'GET /usage': 'remaining calls of the key, and its use by day',
    'POST /top-ups/:invoice': 'a hundred additional calls, once per invoice',
    'GET /usage.csv': 'use of all keys in this month',
  })
})
app.get('/usage.csv', async (_req, res) => {
  const now = Date.now()
  await pipeline(Readable.from(quotas.csv({ from: now - MONTH_MS, to: now + MONTH_MS, by: 'month' })), res.type('csv'))
})
app.use((req, res, next) => {
  if (customers.has(req.get('x-api-key') ?? '')) next()
  else res.status(401).json({ title: 'an x-api-key is needed' })
})
const keyOf = (req: express.Request): string => req.get('x-api-key') ?? ''
app.get('/usage', async (req, res) => {
  const now = Date.now()
  const range = { from: now - MONTH_MS, to: now + MONTH_MS }
  res.json({ ...(await quotas.balance(keyOf(req))), days: await quotas.usage(keyOf(req), range) })
})
app.post('/top-ups/:invoice', async (req, res) => {
  const isNew = await quotas.topUp(keyOf(req), 100, { token: req.params.invoice })
  res.status(isNew ? 201 : 200).json(await quotas.balance(keyOf(req)))
})
app.get(
  '/words',
  rateLimit({
    key: byHeader('x-api-key'),
    plans: plansOn(quotas),
    plan: (req) => customers.get(keyOf(req)) ?? 'free',
    deadlineMs: 500,
  }),
  (_req, res) => {
    res.json({ word: 'sluice' })
  },
)

const server = createServer(app)
await once(server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1'), 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
console.log(`quotas in ${where}, listening on ${url}`)
console.log(`try: curl -i ${url}/words -H 'x-api-key: key-ada'`)

process.once('SIGTERM', end)
process.once('SIGINT', end)

async function end(): Promise<void> {
  server.close()
  server.closeAllConnections()
  // returns leases, so that unused units are not charged
  await quotas.close()
  await close()
}
