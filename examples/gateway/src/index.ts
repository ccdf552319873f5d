import { realpathSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createGateway } from './gateway.ts'
import { tour } from './tour.ts'

export { createGateway }

/** Serves until SIGINT or SIGTERM; whoever is still being answered after 300 ms is cut off. */
function serve(port: number): void {
  const server = createServer(createGateway())
  server.on('error', (error: NodeJS.ErrnoException) => {
    console.error(error.code === 'EADDRINUSE' ? `Port ${port} is taken: set PORT to another one.` : error.message)
    process.exit(1)
  })
  server.listen(port, () => console.log(tour((server.address() as AddressInfo).port)))
  const stop = (): void => {
    server.close(() => process.exit(0))
    setTimeout(() => server.closeAllConnections(), 300)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  serve(Number(process.env.PORT || 8080))
}
