import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { systemClock } from '@sluice/limiter-core/http'
import { Sweep } from './sweep.ts'

const CHECK_MS = 5_000

/** How long a connection of HTTP/1 may be unread and silent behind a whole request. */
const UNREAD_MS = 30_000

interface Silence {
  readonly bytesWritten: number
  readonly since: number
}

const silences = new WeakMap<Socket, Silence>()

/**
 * Destroys connections that nobody reads nor writes. Node stops reading a connection whose pipelined responses pile up
 * behind one that does not come, and then cannot see that its client has left: what is held for it would be so for good.
 */
export const unreadConnections: Sweep<IncomingMessage> = new Sweep(CHECK_MS, (req) => {
  const { socket } = req
  if (isForgotten(req, systemClock.now())) socket.destroy()
  return socket.destroyed
})

function isForgotten({ complete, socket }: IncomingMessage, now: number): boolean {
  if (!socket.isPaused()) {
    silences.delete(socket)
    return false
  }
  // a body that waits for its reader has its bound in the server's requestTimeout
  if (!complete) return false
  const { bytesWritten } = socket
  const silence = silences.get(socket)
  if (silence?.bytesWritten === bytesWritten) return now - silence.since >= UNREAD_MS
  silences.set(socket, { bytesWritten, since: now })
  return false
}
