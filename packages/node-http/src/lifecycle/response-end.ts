import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, type Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { closeResponse } from './closed-response.ts'
import { stalledStreams } from './stalled-streams.ts'
import { unreadConnections } from './unread-connections.ts'

/** What carries a response: its connection, or in HTTP/2 its stream. */
type Carrier = Duplex

// one listener a socket, however many requests it carries: a pipelined response that never gets its turn has no
// signal of its own, and a listener for each would pile up on a connection that is kept alive
const waiting = new WeakMap<Carrier, Set<() => void>>()

/** Runs `run` when what carries the response closes. Returns a function that forgets it. */
export function onCarrierClose(carrier: Carrier, run: () => void): () => void {
  const known = waiting.get(carrier)
  const runs = known ?? new Set()
  if (!known) {
    waiting.set(carrier, runs)
    // first in line: a listener that throws silences all that come after it, Node's own among them
    carrier.prependOnceListener('close', () => {
      for (const one of [...runs]) one()
    })
  }
  runs.add(run)
  return () => runs.delete(run)
}

/**
 * Runs `run` when the response has lost what carries it, which may be before its turn came, and closes the response for
 * everyone. Returns a function that forgets `run`.
 */
export function onAbandoned(req: IncomingMessage, res: ServerResponse, run: () => void): () => void {
  const carrier = carrierOf(req, res)
  if (!carrier) return () => {}
  // its close has been emitted for those who listened then
  if (carrier.closed) closeResponse(res)
  const forget = onCarrierClose(carrier, () => {
    run()
    closeResponse(res)
  })
  // a stream of HTTP/2 carries one response, and has finished before it closes, also where its client reset it
  if (req.httpVersionMajor >= 2) return () => {}
  if (!isReadable(carrier)) return forget
  unreadConnections.add(req)
  return () => {
    forget()
    unreadConnections.delete(req)
  }
}

/** Sees to it that a response of HTTP/2 that can't be sent any more ends, whoever waits for it. */
export function watchStream(res: ServerResponse): void {
  const stream = streamOf(res)
  if (stream) stalledStreams.add(stream)
}

/** Whether nobody will read the response any more, or nothing is left to be sent. */
export function isGone(req: IncomingMessage, res: ServerResponse): boolean {
  if (res.writableFinished || res.destroyed || res.closed) return true
  const carrier = carrierOf(req, res)
  if (!carrier) return req.httpVersionMajor >= 2
  return carrier.destroyed || carrier.closed
}

// undefined where a stream of HTTP/2 is gone, and where no connection carries the response: an adapter of serverless
// functions and mocks of tests put an object with an address in its place
function carrierOf(req: IncomingMessage, res: ServerResponse): Carrier | undefined {
  if (req.httpVersionMajor >= 2) return streamOf(res)
  return isEmitter(req.socket) ? req.socket : undefined
}

/** Whether the response emits what its socket does, which an object in place of a socket never will. */
export function hasConnection(res: ServerResponse): boolean {
  return !res.socket || isEmitter(res.socket)
}

function isEmitter(socket: unknown): boolean {
  return typeof (socket as Partial<Socket> | undefined)?.prependOnceListener === 'function'
}

// a request that a test injects has an emitter with an address
function isReadable(carrier: Carrier): boolean {
  return typeof (carrier as Partial<Socket>).isPaused === 'function'
}

/** Whether the response was sent whole. HTTP/2 tells `finish` for a stream that the client reset, too. */
export function isComplete(req: IncomingMessage, res: ServerResponse): boolean {
  if (!res.writableFinished) return false
  if (req.httpVersionMajor < 2) return res.errored === null || res.errored === undefined
  const stream = streamOf(res)
  return !stream || (!stream.aborted && stream.rstCode === 0)
}

/** Ends a response in the middle, so that its reader learns that it is not whole. */
export function cutOff(req: IncomingMessage, res: ServerResponse): void {
  if (req.httpVersionMajor < 2) res.destroy()
  else streamOf(res)?.close(constants.NGHTTP2_INTERNAL_ERROR)
}

// the compatibility API hides the stream behind the type of HTTP/1
function streamOf(res: ServerResponse): Http2Stream | undefined {
  return (res as { stream?: Http2Stream }).stream
}
