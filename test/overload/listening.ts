import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Running {
  readonly server: Server
  readonly url: string
}

export async function listen(handler: RequestListener): Promise<Running> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

export async function close({ server }: Running): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
