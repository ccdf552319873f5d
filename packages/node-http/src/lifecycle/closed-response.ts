import type { ServerResponse } from 'node:http'

type CloseListener = (this: ServerResponse) => void

/**
 * Makes all listeners receive the `close` of a response whose connection or stream has closed. Otherwise
 * `stream.pipeline`, `stream.finished` or a Fastify reply could wait forever: before version 24, Node emits no `close`
 * for a pipelined HTTP/1 response whose turn never came (nodejs/node#62534), it emits none for an HTTP/2 response to a
 * HEAD request before `end` is called, and an HTTP/2 response does not call listeners that are added after its `close`.
 */
export function closeResponse(res: ServerResponse): void {
  // in separate ticks: events emitted by Node come first, and a listener that throws does not stop the next step
  process.nextTick(() => {
    // `closed` is undefined in HTTP/2, where Node has already emitted `close` if it ever does
    if (res.closed === false) res.destroy()
    process.nextTick(() => {
      if (res.closed) return
      if (res.closed === false || isUnendedHead(res)) res.emit('close')
      res.on('newListener', callLateListener)
    })
  })
}

/** Whether this is an HTTP/2 response to a HEAD request that was not ended. */
function isUnendedHead({ req, writableEnded }: ServerResponse): boolean {
  return req.httpVersionMajor >= 2 && req.method === 'HEAD' && !writableEnded
}

/** Calls a `close` listener that was added after the event. */
function callLateListener(this: ServerResponse, event: string | symbol, listener: CloseListener): void {
  if (event === 'close') process.nextTick(() => listener.call(this))
}
