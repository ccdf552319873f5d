import { createCounters, GCounter } from '@sluice/counters'
import { rateLimit } from '@sluice/express'
import express from 'express'

const counters = createCounters()
const replica = new GCounter('one')

const app = express()
app.use(rateLimit({ limit: 1, window: '1m' }))
app.get('/', async (_req, res) => {
  const { value } = await counters.increment('asked')
  res.send(`hello ${value} ${replica.increment()}`)
})

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().once('end', () => server.close())
