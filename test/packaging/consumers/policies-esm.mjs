import { rateLimit } from '@sluice/express'
import { policies } from '@sluice/policies'
import express from 'express'

const app = express()
app.use(rateLimit(policies('one-per-minute.yaml')))
app.get('/', (_req, res) => res.send('hello'))

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().once('end', () => server.close())
