import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { serve } from '@hono/node-server'
import { createApp } from './app.ts'

export { createApp }

/** Serves until SIGINT or SIGTERM. */
function start(port: number): void {
  const server = serve({ fetch: createApp().fetch, port }, (info) => {
    console.log(`An API with limits on http://localhost:${info.port}`)
  })
  server.on('error', (error: NodeJS.ErrnoException) => {
    console.error(error.code === 'EADDRINUSE' ? `Port ${port} is taken: set PORT to another one.` : error.message)
    process.exit(1)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.close(() => process.exit(0)))
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  start(Number(process.env.PORT || 8082))
}
