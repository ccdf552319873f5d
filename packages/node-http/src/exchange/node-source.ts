import type { IncomingMessage } from 'node:http'
import { type ClientSource, isUnixSocket } from '@sluice/http'

/** Returns what the client address of a `node:http` request is determined from. `ip` is what the framework says. */
export function nodeSource({ socket, headers }: IncomingMessage, ip: string | undefined): ClientSource {
  const link = isUnixSocket(socket) ? 'unix' : undefined
  return { ip, peer: socket?.remoteAddress, link, headerText: (name) => headers[name] as string | undefined }
}
