// Runs blocks of the documentation in order: node --conditions=@sluice/source run-block.mjs <file> …
// The servers of each block get free ports, receive one request for / and are closed. Connections to the default
// Redis port go to REDIS_PORT, and Redis clients are closed. At the end nothing may keep the process alive.
import { once } from 'node:events'
import { register } from 'node:module'
import net, { Server } from 'node:net'
import { pathToFileURL } from 'node:url'
import { Cluster, Redis } from 'ioredis'
import pg from 'pg'
import { createClient, createCluster, createSentinel } from 'redis'

register('./typescript-hooks.mjs', import.meta.url)

// a call may be late because the machine stalled, whatever the block does; caps of earlier blocks may report to a client
// that was closed with its block; and Node 26 deprecates the hooks above
const EXPECTED = / failed: LATE: | failed: CONNECTION: .*the connection to Redis is (closing|close|end)\b/
process.on('warning', (warning) => {
  if (!EXPECTED.test(warning.message) && warning.code !== 'DEP0205') fail(`it warned: ${warning}`)
})

const servers = new Set()
const listen = Server.prototype.listen
Server.prototype.listen = function onFreePort(...args) {
  servers.add(this)
  const listening = args.find((arg) => typeof arg === 'function')
  return listen.call(this, 0, '127.0.0.1', listening)
}

const { createConnection } = net
net.createConnection = (options, ...args) =>
  createConnection(options.port === 6379 ? { ...options, port: Number(process.env.REDIS_PORT) } : options, ...args)

/** Prototype that provides the methods of such a client of node-redis. */
function prototypeOf(client) {
  let prototype = client
  while (!Object.hasOwn(prototype, 'connect')) prototype = Object.getPrototypeOf(prototype)
  return prototype
}

const clients = new Set()
const anywhere = { host: '127.0.0.1', port: 1 }
const ofNodeRedis = [
  createClient(),
  createCluster({ rootNodes: [{ socket: anywhere }] }),
  createSentinel({ name: 'any', sentinelRootNodes: [anywhere] }),
]
for (const prototype of [Redis.prototype, Cluster.prototype, ...ofNodeRedis.map(prototypeOf)]) {
  const { connect } = prototype
  prototype.connect = function remembered(...args) {
    clients.add(this)
    return connect.apply(this, args)
  }
}

// otherwise an idle connection keeps the process alive for the 10 s after which the pool closes it
const { connect: connectPool } = pg.Pool.prototype
pg.Pool.prototype.connect = function withoutIdle(...args) {
  this.options.allowExitOnIdle = true
  return connectPool.apply(this, args)
}

let current
for (const file of process.argv.slice(2)) {
  current = file
  await runBlock(file)
}

async function runBlock(file) {
  await import(pathToFileURL(file).href)

  // a request before the first connection would be decided by the failure rule
  if (servers.size > 0) {
    for (const client of clients) if (client.status !== 'ready') await once(client, 'ready')
  }
  for (const server of servers) await askAndClose(server)
  for (const client of clients) await disconnect(client)
  servers.clear()
  clients.clear()
}

async function askAndClose(server) {
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address()
  const { status } = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
  if (status >= 500) fail(`GET / answered ${status}`)
  server.close()
  server.closeAllConnections?.()
}

async function disconnect(client) {
  if (client.destroy === undefined) return client.disconnect()
  // the Sentinels and the cluster of the blocks do not exist
  const isSingle = client.slots === undefined && client.getSentinelNode === undefined
  if (isSingle && !client.isOpen) return
  // a single client that is still connecting continues to connect
  if (isSingle && !client.isReady) await once(client, 'ready').catch(() => {})
  await client.destroy()
}

function fail(reason) {
  console.error(`${current}: ${reason}`)
  process.exitCode = 1
}
