import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { root } from '../repository.ts'

const folder = join(root, '.artifacts/recipes')
/** Returns the code under a heading of a page in `docs/`. */
function codeOf(page: string, heading: string): string {
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))
  const [, code] = /^```ts\n([\s\S]*?)^```$/m.exec(section ?? '') ?? []
  if (code === undefined) throw new Error(`docs/${page} has no code under "${heading}"`)
  return code
}

/** A running recipe. */
export interface RunningRecipe {
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

/** Runs the code under `heading` of `page`, on a free port. */
export async function run(page: string, heading: string): Promise<RunningRecipe> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${heading.toLowerCase().replace(/\W+/g, '-')}.ts`)
  writeFileSync(file, `${codeOf(page, heading)}\nexport {}\n`)
  const server = await serverOf(() => import(file))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      ;(server as Server & { closeAllConnections(): void }).closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Returns the server that `load` starts, on a free port instead of its default. */
async function serverOf(load: () => Promise<unknown>): Promise<Server> {
  const { listen } = Server.prototype
  const started: Server[] = []
  Server.prototype.listen = function onFreePort(this: Server) {
    started.push(this)
    return listen.call(this, { port: 0, host: '127.0.0.1' })
  } as typeof listen
  try {
    await load()
  } finally {
    Server.prototype.listen = listen
  }
  const [server] = started
  if (!server.listening) await once(server, 'listening')
  return server
}
