import { realpathSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createEcho } from './echo.ts'

export { createEcho }

/** Serves until SIGINT or SIGTERM. */
function serve(port: number): void {
  const { server, sockets } = createEcho()
  server.on('error', (error: NodeJS.ErrnoException) => {
    console.error(error.code === 'EADDRINUSE' ? `Port ${port} is taken: set PORT to another one.` : error.message)
    process.exit(1)
  })
  server.listen(port, () => {
    const url = `localhost:${(server.address() as AddressInfo).port}`
    console.log(`An echo server with limits on ws://${url}; to list them: curl http://${url}`)
  })
  const stop = (): void => {
    server.close(() => process.exit(0))
    // 1001: going away; clients that do not close their side are disconnected
    for (const socket of sockets.clients) socket.close(1001)
    setTimeout(() => {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
    }, 300)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  serve(Number(process.env.PORT || 8081))
}
