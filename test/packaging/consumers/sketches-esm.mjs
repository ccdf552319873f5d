import { rateLimit } from '@sluice/express'
import { CountMin, HyperLogLog } from '@sluice/sketches'
import { sketchBackend } from '@sluice/sketches/limits'
import express from 'express'

const counts = CountMin.fromBytes(new CountMin({ width: 64, depth: 4 }).toBytes())
const clients = new HyperLogLog()

const app = express()
app.use(rateLimit({ limit: 1, window: '1m', backend: sketchBackend() }))
app.get('/', (req, res) => {
  clients.add(req.ip)
  res.send(`hello ${counts.add(req.ip)} ${clients.count()}`)
})

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().once('end', () => server.close())
