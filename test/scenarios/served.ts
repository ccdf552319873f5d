import { type ClientRequest, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Express } from 'express'

/** Serves an app on a free port while `use` runs. */
export async function served<T>(app: Express, use: (url: string, server: Server) => Promise<T>): Promise<T> {
  const server = app.listen(0)
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Sends a request without waiting for the response, so that the client can disconnect. */
export function impatient(url: string, method = 'GET'): ClientRequest {
  const request = httpRequest(url, { method })
  request.on('error', () => {
    // the error of the aborted request is expected
  })
  request.end()
  return request
}

/** A promise with its resolve function. */
export interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
}

export function gate(): Gate {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
