import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { nextTick } from '../connect/next-tick.ts'
import { unreadConnections } from '../lifecycle/unread-connections.ts'

/** Maximum number of bytes that are kept in memory; further data stays in the socket. */
const MAX_KEPT_BYTES = 64 * 1024

/**
 * Reads the socket of an allowed upgrade until a listener does, which may never happen: no listener handles its path, or
 * the listener has refused it without closing the socket. Only reading shows that a client has left; its permit would
 * otherwise stay held. A later reader receives all data.
 */
export function watchWhileUnread(req: IncomingMessage, socket: Duplex): void {
  // after the `upgrade` listeners have run
  nextTick(() => {
    if (!socket.destroyed && !isRead(socket)) watch(req, socket)
  })
}

function watch(req: IncomingMessage, socket: Duplex): void {
  const kept: Buffer[] = []
  let bytes = 0
  const keep = (): void => {
    while (bytes < MAX_KEPT_BYTES) {
      const chunk: Buffer | null = socket.read()
      if (!chunk) return
      kept.push(chunk)
      bytes += chunk.length
    }
    // the departure of the client can no longer be detected
    unreadConnections.add(req)
  }
  const left = (): void => {
    socket.destroy()
  }
  const { unshift } = socket
  const handOver = (): void => {
    socket.off('newListener', onListener).off('readable', keep).off('end', left)
    socket.unshift = unshift
    unreadConnections.delete(req)
    if (bytes > 0) socket.unshift(Buffer.concat(kept))
  }
  const onListener = (event: string | symbol): void => {
    if (event === 'data' || event === 'readable') handOver()
  }
  // the new reader puts the head of the upgrade in front of the data that arrived after it
  socket.unshift = (chunk, encoding) => {
    handOver()
    socket.unshift(chunk, encoding)
  }
  socket.on('readable', keep).on('end', left).on('newListener', onListener)
}

function isRead(socket: Duplex): boolean {
  return socket.readableFlowing === true || socket.listenerCount('readable') + socket.listenerCount('data') > 0
}
