import type { AddressInfo } from 'node:net'
import { inflightLimit, rateLimit } from '@sluice/express'
import express from 'express'

const app = express()
app.use(inflightLimit({ limit: 200 }))
app.use(rateLimit({ limit: 1, window: '1m' }))
app.get('/', (_req, res) => {
  res.send('hello')
})

const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.stdin.resume().once('end', () => server.close())
