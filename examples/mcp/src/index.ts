import { realpathSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createCatalog } from './catalog.ts'
import { createHttpServer } from './http.ts'

export { createCatalog, createHttpServer }

/** Serves over HTTP until SIGINT or SIGTERM. */
function serve(port: number): void {
  const server = createHttpServer(createCatalog())
  server.on('error', (error: NodeJS.ErrnoException) => {
    console.error(error.code === 'EADDRINUSE' ? `Port ${port} is taken: set PORT to another one.` : error.message)
    process.exit(1)
  })
  server.listen(port, () => {
    console.log(`An MCP server with limits on http://localhost:${(server.address() as AddressInfo).port}`)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.close(() => process.exit(0)))
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--stdio')) serveStdio(createCatalog())
  else serve(Number(process.env.PORT || 8086))
}
