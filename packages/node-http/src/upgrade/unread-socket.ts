import type { Duplex } from 'node:stream'
import { nextTick } from '../connect/next-tick.ts'

/** The socket is destroyed if its client sends more than this before a listener reads it. */
const MAX_UNREAD_BYTES = 64 * 1024

/**
 * Reads the socket of an allowed upgrade until a listener does, which never happens if no listener handles its path.
 * Only reading shows that a client has left; its permit would otherwise stay held. A later reader receives all data.
 */
export function watchWhileUnread(socket: Duplex): void {
  // after the other `upgrade` listeners have run
  nextTick(() => {
    if (!socket.destroyed && !isRead(socket)) watch(socket)
  })
}

function watch(socket: Duplex): void {
  const kept: Buffer[] = []
  let bytes = 0
  const keep = (): void => {
    for (let chunk: Buffer | null = socket.read(); chunk; chunk = socket.read()) {
      kept.push(chunk)
      bytes += chunk.length
    }
    if (bytes > MAX_UNREAD_BYTES) socket.destroy()
  }
  const left = (): void => {
    socket.destroy()
  }
  const handOver = (event: string | symbol): void => {
    if (event !== 'data' && event !== 'readable') return
    socket.off('newListener', handOver).off('readable', keep).off('end', left)
    if (bytes > 0) socket.unshift(Buffer.concat(kept))
  }
  socket.on('readable', keep).on('end', left).on('newListener', handOver)
}

function isRead(socket: Duplex): boolean {
  return socket.readableFlowing !== null || socket.listenerCount('readable') > 0
}
