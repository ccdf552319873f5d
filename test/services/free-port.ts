import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ephemeral ports of the system, so that a killed server finds its own port free again. */
const FIRST = 15_000
const LAST = 32_000
const ATTEMPTS = 5

/** A port on the loopback interface that is not in use. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    if (await isFree(port)) return port
  }
}

/** Returns the result of `start` on free ports. Retries with other ports if one was taken meanwhile. */
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
