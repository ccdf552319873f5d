import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { sites } from './sites.ts'
import { tour } from './tour.ts'

export { sites }

/** Serves every site, on `port` and those that follow it, or on free ports for 0, until SIGINT or SIGTERM. */
async function serve(port: number): Promise<void> {
  const servers: Server[] = []
  const urls: Record<string, string> = {}
  for (const [framework, make] of Object.entries(sites)) {
    const server = await make()
    urls[framework] = `http://localhost:${await listen(server, port && port + servers.length)}`
    servers.push(server)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(servers))
  console.log(tour(urls))
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

/** Whoever is still being answered after 300 ms is cut off. */
function stop(servers: readonly Server[]): void {
  Promise.all(servers.map((server) => once(server.close(), 'close'))).then(() => process.exit(0))
  setTimeout(() => {
    for (const server of servers) server.closeAllConnections()
  }, 300)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  void serve(Number(process.env.PORT || 3000))
}
