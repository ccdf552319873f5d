import { once } from 'node:events'
import { startChild } from './child.mjs'

const httpLoad = new URL('./http-load.mjs', import.meta.url)
const httpServer = new URL('./http-server.mjs', import.meta.url)
const connections = 32

/** Process that generates all loads. */
export function startLoad() {
  const child = startChild(httpLoad, {})
  // a smoke test runs many loads concurrently
  child.setMaxListeners(0)
  let asked = 0
  const run = (load) =>
    new Promise((resolve, reject) => {
      const id = ++asked
      const answered = (answer) => {
        if (answer.id === id) settle(resolve, answer)
      }
      const ended = (code) => settle(reject, new Error(`http-load.mjs ended with ${code}`))
      const settle = (how, what) => {
        child.off('message', answered).off('exit', ended)
        how(what)
      }
      child.on('message', answered).on('exit', ended)
      child.send({ id, connections, ...load })
    })
  return { run, close: () => child.kill() }
}

/** The servers of contenders in one process; a single server if CPU time is measured. */
export async function openSites(contenders, load) {
  const child = startChild(httpServer, { names: contenders.map(({ name }) => name) })
  child.setMaxListeners(0)
  const ports = await portsOf(child)
  const sites = contenders.map((contender) =>
    siteOf(contender, `http://127.0.0.1:${ports[contender.name]}/`, child, load),
  )
  return { sites, close: () => child.kill() }
}

function siteOf(contender, url, child, load) {
  return {
    contender,
    /** CPU and throughput under a load; every response is checked. */
    async measure(extent) {
      const before = await cpuUs(child)
      const result = await load.run({ url, ...extent })
      const spentUs = (await cpuUs(child)) - before
      proveStatus(contender, result)
      return { cpuUs: spentUs / result.requests, perSecond: result.perSecond }
    },
    /** Spends the only unit of the limit for denials. */
    async warmUp(seconds) {
      await (await fetch(url)).text()
      if (seconds > 0) await load.run({ url, seconds })
    },
  }
}

function portsOf(server) {
  return new Promise((resolve, reject) => {
    server.once('message', ({ ports }) => resolve(ports))
    server.once('exit', (code) => reject(new Error(`http-server.mjs ended with ${code}`)))
  })
}

async function cpuUs(server) {
  server.send('cpu')
  const [answer] = await once(server, 'message')
  return answer.cpuUs
}

function proveStatus({ name, denial }, { passed, denied, failed, requests }) {
  const right = denial ? denied : passed
  if (requests === 0 || right !== requests || failed > 0) {
    throw new Error(`${name}: ${requests} requests, ${passed} passed, ${denied} denied, ${failed} failed`)
  }
}
