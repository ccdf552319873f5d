import type { IncomingMessage } from 'node:http'
import type { ClientSource } from '@sluice/http'

/** Returns what the client address of a `node:http` request is determined from. `ip` is what the framework says. */
export function nodeSource({ socket, headers }: IncomingMessage, ip: string | undefined): ClientSource {
  return { ip, peer: socket?.remoteAddress, headerText: (name) => headers[name] as string | undefined }
}
