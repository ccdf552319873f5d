// A process of a fleet: an HTTP server behind a cap, whose handler asks the database.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { inflightLimit } from '@sluice/node-http'
import { adaptive } from '@sluice/overload'
import { createRedis, redisInflight } from '@sluice/redis'

const { contender, capacity, databasePort, redisPort } = JSON.parse(process.env.FLEET_MEMBER)
const queue = { max: 10, maxWaitMs: 500 }
const limits = {
  'a fixed cap of 5 each': () => ({ limit: 5 }),
  'an adaptive cap each': () => ({ limit: adaptive({ min: 1, max: capacity }) }),
  'an adaptive cap for the fleet': () => ({
    name: 'database',
    limit: adaptive({ min: 8, max: capacity }),
    // no other fleet of the run has this scope
    backend: redisInflight(createRedis(`redis://127.0.0.1:${redisPort}`), { scope: `${databasePort}` }),
  }),
}

function protect([limit, isQueued]) {
  if (limit === 'no limiter') return (_req, _res, next) => next()
  return inflightLimit({ ...limits[limit](), ...(isQueued && { queue }) })
}

const database = connect(databasePort, '127.0.0.1')
await once(database, 'connect')
const waiting = new Map()
let queries = 0
createInterface({ input: database }).on('line', (id) => {
  waiting.get(id)?.end('done')
  waiting.delete(id)
})

const guard = protect(contender.split(', '))
const server = createServer({ keepAliveTimeout: 3_600_000 }, (req, res) =>
  guard(req, res, () => {
    const id = `${++queries}`
    waiting.set(id, res)
    database.write(`${id}\n`)
  }),
)
await once(server.listen(0, '127.0.0.1'), 'listening')
process.send({ port: server.address().port })
process.once('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpuMs: (user + system) / 1_000 }, () => process.exit(0))
})
