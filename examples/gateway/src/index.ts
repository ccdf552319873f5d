import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { sites } from './sites.ts'
import { tour } from './tour.ts'
import { Traffic } from './traffic.ts'
import { watchSites } from './watch.ts'

export { sites }

const PAGE = '/limits'

/**
 * Serves every site, on `port` and the following ports, or on free ports for 0, until SIGINT or SIGTERM. Each serves the
 * same page with the limits of all sites.
 */
async function serve(port: number, hasTraffic: boolean): Promise<void> {
  const watch = watchSites(
    PAGE,
    Object.keys(sites).map((framework) => framework.toLowerCase()),
  )
  const servers: Server[] = []
  const urls: Record<string, string> = {}
  for (const [framework, make] of Object.entries(sites)) {
    const server = await make(undefined, { ...watch, site: framework.toLowerCase() })
    urls[framework] = `http://localhost:${await listen(server, port && port + servers.length)}`
    servers.push(server)
  }
  const traffic = hasTraffic ? new Traffic(servers) : undefined
  const end = () => {
    traffic?.stop()
    void watch.close()
    stop(servers)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
  const page = `Limits, live: ${Object.values(urls)[0]}${PAGE}`
  console.log(`${page}\nToken of the page: ${watch.token}\n${trafficText(hasTraffic)}\n\n${tour(urls)}`)
}

function trafficText(hasTraffic: boolean): string {
  const made = 'Built-in clients send a few requests a second from their own addresses; TRAFFIC=off disables them.'
  return hasTraffic ? made : 'TRAFFIC=off: only your own requests.'
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    await once(server.listen(port), 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const others = Object.keys(sites).length - 1
    const taken = `Port ${port} is taken: set PORT to one that is free, with the ${others} that follow it.`
    console.error(code === 'EADDRINUSE' ? taken : message)
    process.exit(1)
  }
  return (server.address() as AddressInfo).port
}

/** Connections that are still being answered after 300 ms are closed. */
function stop(servers: readonly Server[]): void {
  Promise.all(servers.map((server) => once(server.close(), 'close'))).then(() => process.exit(0))
  setTimeout(() => {
    for (const server of servers) server.closeAllConnections()
  }, 300)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  void serve(Number(process.env.PORT || 3000), process.env.TRAFFIC !== 'off')
}
