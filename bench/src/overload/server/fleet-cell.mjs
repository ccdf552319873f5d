// A fleet: processes that share one port and one database. Some of them reach Redis only through a proxy, which stops
// forwarding for a while.
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@sluice/limiter-core/backend'
import { WorkerModel } from '@sluice/testkit'
import { childOptions } from '../../run/child.mjs'
import { proxyTo } from './proxy.mjs'
import { ServerHost } from './server-host.mjs'

const { contender, settings } = childOptions()
const { capacity, workMs, processes, redisPort, cut } = settings
const host = new ServerHost()
let held = 0
let most = 0

/** Works on `capacity` queries at a time; the others wait. */
const workers = new WorkerModel(capacity, systemClock)
const database = createServer((socket) => {
  socket.on('error', () => {})
  createInterface({ input: socket }).on('line', (id) => {
    most = Math.max(most, ++held)
    workers.serve(workMs, () => {
      held--
      socket.write(`${id}\n`)
    })
  })
})
await once(database.listen(0, '127.0.0.1'), 'listening')

const proxy = await proxyTo(redisPort)
cluster.setupPrimary({ exec: fileURLToPath(new URL('./fleet-member.mjs', import.meta.url)), args: [] })
const members = Array.from({ length: processes }, (_, index) =>
  cluster.fork({
    FLEET_MEMBER: JSON.stringify({
      contender,
      capacity,
      databasePort: database.address().port,
      redisPort: index < cut.processes ? proxy.port : redisPort,
    }),
  }),
)
const ready = await Promise.all(members.map((member) => once(member, 'message')))
const [{ port }] = ready[0]

host.run(port, {
  held: () => held,
  onStart: () => {
    setTimeout(proxy.pause, cut.fromMs - host.elapsedMs())
    setTimeout(proxy.resume, cut.toMs - host.elapsedMs())
  },
  // CPU of the members too
  finish: async () => {
    const replies = members.map((member) => once(member, 'message'))
    for (const member of members) member.send('end')
    const spent = await Promise.all(replies)
    return { most, cpuMs: spent.reduce((sum, [{ cpuMs }]) => sum + cpuMs, 0) }
  },
})
