import type { Duplex } from 'node:stream'
import { nextTick } from '../connect/next-tick.ts'

/** A client that sends more than this to nobody is cut off. */
const MOST_BYTES = 64 * 1024

/**
 * Watches a socket that passed for as long as nobody reads it, as where no listener is for its path: nothing but
 * reading shows that a client has left, whose place would stay held. What came is given back to who reads later.
 */
export function watchWhileUnread(socket: Duplex): void {
  // the other listeners have their turn first
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
    if (bytes > MOST_BYTES) socket.destroy()
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
