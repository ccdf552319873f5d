// One Express app in a process of its own; it tells its CPU time so far whenever it is asked.
import express from 'express'
import { childOptions } from './child.mjs'
import { httpContenders } from './http-contenders.mjs'

const { name } = childOptions()
const app = express()
await httpContenders.find((contender) => contender.name === name).mount(app)
app.get('/', (_req, res) => res.send('hello'))

const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpuUs: user + system })
})
