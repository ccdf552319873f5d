// All servers of one framework in one process, measured in short turns: `sockets` from a separate load process, or
// `injected` without sockets. Sends the CPU µs per request of every server in every turn.
import { once } from 'node:events'
import inject from 'light-my-request'
import { insightContenders } from '../insight/insight-contenders.mjs'
import { childOptions, finishChild, startChild } from '../run/child.mjs'
import { seededRandom, shuffled } from '../run/random.mjs'
import { httpContenders } from './http-contenders.mjs'

const httpLoad = new URL('./http-load.mjs', import.meta.url)
const { names, mode, seed, turns, warmupTurns, requests } = childOptions()
const random = seededRandom(seed)

// the order of creation varies, because the first server determines how shared code is optimized
const chosen = [...httpContenders, ...insightContenders].filter(({ name }) => names.includes(name))
const opened = []
for (const contender of shuffled(chosen, random)) opened.push({ contender, server: await contender.serve() })
const { measured, close } = mode === 'sockets' ? await openSockets() : openInjected()

for (const { contender, run } of measured) if (contender.denial) await run(1)
for (let turn = 0; turn < warmupTurns; turn++) await turnOf()
const results = []
for (let turn = 0; turn < turns; turn++) results.push(await turnOf())
close()
finishChild(results)

/** CPU µs per request of each server, in random order. */
async function turnOf() {
  const cpuUs = {}
  for (const { contender, run } of shuffled(measured, random)) {
    const before = process.cpuUsage()
    await run(requests, contender.denial ? 429 : 200)
    const { user, system } = process.cpuUsage(before)
    cpuUs[contender.name] = (user + system) / requests
  }
  return cpuUs
}

async function openSockets() {
  const load = startChild(httpLoad, {})
  await once(load, 'message')
  const sites = []
  for (const { contender, server } of opened) {
    // connections stay open while the other servers have their turns
    server.keepAliveTimeout = 0
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address()
    const run = async (amount, status) => {
      load.send({ port, amount, status })
      const [{ failed }] = await once(load, 'message')
      if (failed) throw new Error(`${contender.name}: ${failed}`)
    }
    sites.push({ contender, run })
  }
  return { measured: sites, close: () => load.kill() }
}

function openInjected() {
  const sites = opened.map(({ contender, server }) => {
    const dispatch = (req, res) => server.emit('request', req, res)
    const ask = server.ask ?? (async () => (await inject(dispatch, { url: '/' })).statusCode)
    const run = async (amount, status) => {
      for (let sent = 0; sent < amount; sent++) {
        const statusCode = await ask()
        if (status !== undefined && statusCode !== status) throw new Error(`${contender.name}: answered ${statusCode}`)
      }
    }
    return { contender, run }
  })
  return { measured: sites, close: () => {} }
}
