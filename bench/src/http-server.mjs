// Servers in a separate process, one each except in a smoke test. Reports its CPU time so far on each message.
import { once } from 'node:events'
import { childOptions } from './child.mjs'
import { httpContenders } from './http-contenders.mjs'
import { insightContenders } from './insight-contenders.mjs'

const { names } = childOptions()
const ports = {}
for (const { name, serve } of [...httpContenders, ...insightContenders]) {
  if (!names.includes(name)) continue
  const server = await serve()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  ports[name] = server.address().port
}
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpuUs: user + system })
})
process.send({ ports })
