import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'

// one listener a socket, however many requests it carries: a pipelined response that never gets its turn has no
// signal of its own, and a listener for each would pile up on a connection that is kept alive
const waiting = new WeakMap<Socket, Set<() => void>>()

/** Runs `run` when the socket closes. Returns a function that forgets it. */
export function onSocketClose(socket: Socket, run: () => void): () => void {
  const known = waiting.get(socket)
  const runs = known ?? new Set()
  if (!known) {
    waiting.set(socket, runs)
    socket.once('close', () => {
      for (const one of [...runs]) one()
    })
  }
  runs.add(run)
  return () => runs.delete(run)
}

/** Whether nobody will read the response any more, or nothing is left to be sent. */
export function isGone(req: IncomingMessage, res: ServerResponse): boolean {
  if (res.writableFinished || res.destroyed || res.closed) return true
  if (req.httpVersionMajor >= 2) {
    const stream = streamOf(res)
    return !stream || stream.destroyed || stream.closed
  }
  return !req.socket || req.socket.destroyed
}

/** Whether the response was sent whole. HTTP/2 tells `finish` for a stream that the client reset, too. */
export function isComplete(req: IncomingMessage, res: ServerResponse): boolean {
  if (!res.writableFinished) return false
  if (req.httpVersionMajor < 2) return res.errored === null || res.errored === undefined
  const stream = streamOf(res)
  return !stream || (!stream.aborted && stream.rstCode === 0)
}

// the compatibility API hides the stream behind the type of HTTP/1
function streamOf(res: ServerResponse): Http2Stream | undefined {
  return (res as { stream?: Http2Stream }).stream
}
