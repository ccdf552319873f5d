import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { systemClock } from '@sluice/limiter-core/http'
import { Sweep } from './sweep.ts'

const CHECK_MS = 5_000

/** Time after which an HTTP/1 connection is destroyed if Node neither reads nor writes it after a complete request. */
const UNREAD_MS = 30_000

interface Silence {
  readonly bytesWritten: number
  readonly since: number
}

const silences = new WeakMap<Socket, Silence>()

/**
 * Destroys connections that are neither read nor written. Node stops reading a connection while pipelined responses
 * queue behind an unfinished one, and then cannot detect that the client has left, so its permits would never be
 * released.
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
  // the server's requestTimeout limits the wait for an incomplete body
  if (!complete) return false
  const { bytesWritten } = socket
  const silence = silences.get(socket)
  if (silence?.bytesWritten === bytesWritten) return now - silence.since >= UNREAD_MS
  silences.set(socket, { bytesWritten, since: now })
  return false
}
