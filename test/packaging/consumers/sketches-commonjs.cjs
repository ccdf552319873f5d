const { rateLimit } = require('@sluice/express')
const { SpaceSaving, TDigest } = require('@sluice/sketches')
const { sketchBackend } = require('@sluice/sketches/limits')
const express = require('express')

const talkers = SpaceSaving.fromBytes(new SpaceSaving({ capacity: 10 }).toBytes())
const waits = new TDigest()

const app = express()
app.use(rateLimit({ limit: 1, window: '1m', backend: sketchBackend({ conservative: true }) }))
app.get('/', (req, res) => {
  talkers.add(req.ip)
  waits.add(1)
  res.send(`hello ${talkers.top(1)[0].count} ${waits.quantile(0.99)}`)
})

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().once('end', () => server.close())
