import type { ServerResponse } from 'node:http'

/** What Node's own code sets before it emits `close`; `closed` reads it. */
interface Closable {
  destroyed: boolean
  _closed: boolean
}

/**
 * Emits the `close` that Node before 24 owes a pipelined response of HTTP/1 whose connection ended before its turn came.
 * Without it whatever waits for the response, such as `stream.pipeline`, `stream.finished` or a reply of Fastify, waits
 * for ever. Does nothing where Node emits it itself. Source: nodejs/node#62534.
 */
export function closeAbandoned(res: ServerResponse): void {
  // in a turn of its own: first comes Node's, and a listener that throws silences nobody
  process.nextTick(() => {
    if (res.closed) return
    const state: Closable = res as ServerResponse & Closable
    state.destroyed = true
    state._closed = true
    res.emit('close')
  })
}
