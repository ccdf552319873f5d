import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createApp } from './app.ts'

export { createApp }

const FILE = fileURLToPath(new URL('../policies.yaml', import.meta.url))

/** Serves until SIGINT or SIGTERM. */
function start(port: number): void {
  const file = process.env.POLICIES || FILE
  const { app, policies } = createApp(file)
  const server = app.listen(port, (error) => {
    if (error) {
      console.error(`Port ${port} is taken: set PORT to another one.`)
      process.exit(1)
    }
    console.log(`An API with the limits of ${file} on http://localhost:${port}`)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      policies.close()
      server.close(() => process.exit(0))
    })
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  start(Number(process.env.PORT || 8085))
}
