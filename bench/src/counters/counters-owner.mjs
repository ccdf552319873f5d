// A node of counters with owners: its public service, and the routes below /node for other nodes.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { counterClient, counterService, createCounters, ownedCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import pg from 'pg'
import { childOptions } from '../run/child.mjs'

const { self, url } = childOptions()
const ledger = postgresLedger(new pg.Pool({ connectionString: url, max: 5 }))
const local = createCounters({ name: 'owned', ledger, expireMs: '1s' })
const own = counterService({ counters: local })
let all
const server = createServer((req, res) => {
  if (!req.url.startsWith('/node/')) return void all(req, res)
  req.url = req.url.slice('/node'.length)
  void own(req, res)
})
await once(server.listen(0, '127.0.0.1'), 'listening')
process.on('message', (addresses) => {
  const others = Object.entries(addresses).filter(([name]) => name !== self)
  const peers = Object.fromEntries(others.map(([name, address]) => [name, counterClient({ url: `${address}/node` })]))
  all = counterService({ counters: ownedCounters({ self, local, peers }) })
  process.send('ready')
})
process.send(`http://127.0.0.1:${server.address().port}`)
