/** The parts of a connection, or of a stream of HTTP/2, that report its end. */
export interface Carrier {
  prependOnceListener(event: 'close', listener: () => void): unknown
}

// one listener per socket, regardless of its number of requests: a pipelined response that never gets its turn emits
// no event, and one listener per response would accumulate on a keep-alive connection. A property, because each entry of
// a WeakMap costs several microseconds, most of them at the next garbage collection.
const waiting: unique symbol = Symbol('sluice.waiting')

/** Calls `run` when the carrier closes. Returns a function that cancels the call. */
export function onCarrierClose(carrier: Carrier & { [waiting]?: Set<() => void> }, run: () => void): () => void {
  const runs = carrier[waiting] ?? watched(carrier)
  runs.add(run)
  return () => runs.delete(run)
}

function watched(carrier: Carrier & { [waiting]?: Set<() => void> }): Set<() => void> {
  const runs = new Set<() => void>()
  carrier[waiting] = runs
  // prepended, because a listener that throws prevents all later listeners, including Node's own
  carrier.prependOnceListener('close', () => {
    for (const one of [...runs]) one()
  })
  return runs
}
