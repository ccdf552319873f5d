import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ports that systems hand out to clients, so that a server that was killed finds its own free again. */
const FIRST = 15_000
const LAST = 32_000
const ATTEMPTS = 5

/** A port of the loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    if (await isFree(port)) return port
  }
}

/** What `start` makes on free ports; on others where somebody took one of them meanwhile. */
export async function onFreePorts<T>(start: (port: number, otherPort: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort(), await freePort())
    } catch (error) {
      if (attempt === ATTEMPTS || !String(error).includes('in use')) throw error
    }
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
