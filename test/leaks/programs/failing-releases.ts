// Servers whose cap backend fails to release permits. Prints the warnings after all clients have disconnected.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type InflightBackend, inflightLimit, limitConnections, type Permit } from '@sluice/node-http'
import { until } from '@sluice/testkit'
import { GET, RawClient } from '../raw-client.ts'

const warned: string[] = []
process.on('warning', (warning) => warned.push((warning as { code?: string }).code ?? String(warning)))

const failures: Readonly<Record<string, () => void>> = {
  throws: () => {
    throw new Error('nobody is there')
  },
  rejects: (async () => {
    throw new Error('nobody is there')
  }) as () => void,
}

let asked = 0
let released = 0
let answer = (): void => {}

function failing(fail: () => void): InflightBackend {
  const permit: Permit = {
    lost: new AbortController().signal,
    release: () => {
      released++
      return fail()
    },
    [Symbol.dispose]: () => {},
  }
  return {
    acquire: () => {
      asked++
      return new Promise((resolve) => {
        answer = () => resolve(permit)
      })
    },
  }
}

const servers: Readonly<Record<string, (backend: InflightBackend) => Server>> = {
  requests: (backend) => createServer(inflightLimit({ limit: 1, backend }).wrap(() => {})),
  connections: (backend) => {
    const server = createServer(() => {})
    limitConnections(server, { limit: 1, backend })
    return server
  },
}

/** One client that disconnects before its permit is granted, and one while it holds the permit. */
async function visit(server: Server, early: boolean, speaks: boolean): Promise<void> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = await RawClient.to((server.address() as AddressInfo).port)
  if (speaks) client.send(GET)
  await until(() => asked === 1, { what: 'a place to be asked for' })
  if (!early) answer()
  await new Promise((resolve) => setImmediate(resolve))
  client.socket.resetAndDestroy()
  let open = 1
  const closed = (): boolean => {
    server.getConnections((_error, count) => {
      open = count
    })
    return open === 0
  }
  await until(closed, { what: 'the end of the connection' })
  if (early) answer()
  await until(() => released === 1, { what: 'a release' })
  server.close()
}

async function main(): Promise<void> {
  for (const [what, make] of Object.entries(servers)) {
    for (const fail of Object.values(failures)) {
      for (const early of [true, false]) {
        asked = 0
        released = 0
        await visit(make(failing(fail)), early, what === 'requests')
      }
    }
  }
  // an unhandled rejection would end this process before
  await new Promise((resolve) => setImmediate(resolve))
  console.log(JSON.stringify(warned))
}

main()
