const { createCounters, counterService } = require('@sluice/counters')
const { createGossip, gossipCounters } = require('@sluice/gossip')
const { quota } = require('@sluice/quotas')
const { rateLimit } = require('@sluice/express')
const express = require('express')

const counters = createCounters()
if (![createGossip, gossipCounters, quota].every((one) => typeof one === 'function')) process.exit(1)

const app = express()
app.use(rateLimit({ limit: 1, window: '1m' }))
app.get('/', async (_req, res) => {
  res.send(`hello ${(await counters.increment('asked')).value}`)
})
app.use(counterService({ counters }))

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().once('end', () => server.close())
