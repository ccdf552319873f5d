// Which functions of the suite run for one allowed request behind `rateLimit` of Express, as V8 counts them:
// `npm run request-path -w @sluice/bench` in memory, with `-- redis` over a Redis of its own.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rateLimit } from '@sluice/express'
import express from 'express'

const packages = fileURLToPath(new URL('../../packages/', import.meta.url))
const warmUpRequests = 100
// what nobody wrote as a function: how an entry in CommonJS hands on an export, and how a constructor sets fields
const unwritten = ['get', '<instance_members_initializer>']

const { backend, stop } = process.argv[2] === 'redis' ? await openRedis() : { stop: () => {} }
const app = express()
app.use(rateLimit({ limit: 1_000, window: '1h', backend }))
app.get('/', (_req, res) => res.send('hello'))
const server = createServer(app)
await once(server.listen(0, '127.0.0.1'), 'listening')
print(await functionsOfOne(ask))
server.close()
server.closeAllConnections()
stop()

async function ask() {
  const [response] = await once(get({ port: server.address().port }), 'response')
  if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`)
  await once(response.resume(), 'end')
}

/** What runs of the suite from the start of a call to its end. */
async function functionsOfOne(call) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  for (let request = 0; request < warmUpRequests; request++) await call()
  // the counts begin anew
  await session.post('Profiler.takePreciseCoverage')
  await call()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  return result.filter(({ url }) => url.startsWith(`file://${packages}`)).flatMap(calledOf)
}

function calledOf({ url, functions }) {
  const path = fileURLToPath(url)
  const text = readFileSync(path, 'utf8')
  return functions
    .map(({ functionName, ranges: [{ startOffset, count }] }) => ({ functionName, startOffset, count }))
    .filter(({ functionName, count }) => count > 0 && !unwritten.includes(functionName))
    .map(({ functionName, startOffset, count }) => ({
      file: relative(packages, path).replace('dist/cjs/', ''),
      name: functionName || `line ${text.slice(0, startOffset).split('\n').length}`,
      count,
    }))
}

function print(called) {
  const files = [...new Set(called.map(({ file }) => file))].sort()
  for (const file of files) {
    const functions = called.filter((one) => one.file === file)
    console.log(`${file}: ${functions.map(({ name, count }) => (count > 1 ? `${name} ×${count}` : name)).join(', ')}`)
  }
  console.log(`${called.length} functions in ${files.length} files`)
}

async function openRedis() {
  const { connect } = await import('./redis-client.mjs')
  const { startRedis } = await import('./redis-server.mjs')
  const { redisBackend } = await import('@sluice/redis')
  const redis = await startRedis()
  const client = await connect(redis.port)
  const stop = () => {
    client.disconnect()
    redis.close()
  }
  return { backend: redisBackend(client), stop }
}
