import { createCounters, GCounter, MemoryLedger } from '@sluice/counters'
import { rateLimit } from '@sluice/express'
import { systemClock } from '@sluice/limiter-core/backend'
import { createQuotas, quota } from '@sluice/quotas'
import express from 'express'

const counters = createCounters()
const replica = new GCounter('one')

const app = express()
const quotas = createQuotas(new MemoryLedger(systemClock))
const policies = [{ limit: 1, window: '1m' }, quota({ limit: 100, per: 'month', backend: quotas })]
// a new process needs more than the default of 50 ms for its first decision while the machine is busy
app.use(rateLimit({ policies, deadlineMs: 10_000 }))
app.get('/', async (_req, res) => {
  const { value } = await counters.increment('asked')
  res.send(`hello ${value} ${replica.increment()}`)
})

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().once('end', () => server.close(() => quotas.close()))
