import type { ServerResponse } from 'node:http'

type CloseListener = (this: ServerResponse) => void

/**
 * Lets everyone know that the response is closed whose connection or stream has closed: whatever waits for it, such as
 * `stream.pipeline`, `stream.finished` or a reply of Fastify, would wait for ever. Node before 24 emits no `close` for a
 * pipelined response of HTTP/1 whose turn never came (nodejs/node#62534), and one of HTTP/2 does not tell those who come
 * after its `close` that they are too late.
 */
export function closeResponse(res: ServerResponse): void {
  // in turns of their own: first comes what Node emits, and a listener that throws silences nobody
  process.nextTick(() => {
    // undefined in HTTP/2, where Node has emitted it
    if (res.closed === false) res.destroy()
    process.nextTick(() => {
      if (res.closed) return
      if (res.closed === false) res.emit('close')
      res.on('newListener', callLateListener)
    })
  })
}

/** A listener that comes after `close` is called as if it had come before. */
function callLateListener(this: ServerResponse, event: string | symbol, listener: CloseListener): void {
  if (event === 'close') process.nextTick(() => listener.call(this))
}
