import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { onCarrierClose } from '@sluice/http'
import { closeResponse } from './closed-response.ts'
import { stalledStreams } from './stalled-streams.ts'
import { unreadConnections } from './unread-connections.ts'

/** RFC 9113, section 7. Reading it from `node:http2` would load that module, and that of TLS, in every process. */
const INTERNAL_ERROR = 2

/** Transport of a response: its connection, or its stream in HTTP/2. */
type Carrier = Duplex

/**
 * Calls `run` when the carrier of a response closes, possibly before the response got its turn, and makes all listeners
 * receive the `close` of the response. Returns a function that cancels `run`.
 */
export function onAbandoned(req: IncomingMessage, res: ServerResponse, run: () => void): () => void {
  const carrier = carrierOf(req, res)
  if (!carrier) return () => {}
  // the carrier has already emitted `close` to its earlier listeners
  if (carrier.closed) closeResponse(res)
  const forget = onCarrierClose(carrier, () => {
    run()
    closeResponse(res)
  })
  // an HTTP/2 stream carries only this response, and finishes before it closes even if the client resets it: there is
  // nothing to clean up, and `closeResponse` must still run
  if (req.httpVersionMajor >= 2) return () => {}
  if (isReadable(carrier)) unreadConnections.add(req)
  return forget
}

/** Ensures that an HTTP/2 response which can no longer be sent ends. */
export function watchStream(res: ServerResponse): void {
  const stream = streamOf(res)
  if (stream) stalledStreams.add(stream)
}

/** Whether the response has been sent completely, or its client has left. */
export function isGone(req: IncomingMessage, res: ServerResponse): boolean {
  // a response that has not ended is neither finished nor closed; each read of an Express response takes 1 µs
  if (res.destroyed || (res.writableEnded && (res.writableFinished || res.closed))) return true
  const carrier = carrierOf(req, res)
  if (!carrier) return req.httpVersionMajor >= 2
  return carrier.destroyed || carrier.closed
}

// undefined if the HTTP/2 stream is gone, or without a connection: adapters of serverless functions and mocks of tests
// use a plain object with an address as the socket
function carrierOf(req: IncomingMessage, res: ServerResponse): Carrier | undefined {
  if (req.httpVersionMajor >= 2) return streamOf(res)
  return isEmitter(req.socket) ? req.socket : undefined
}

/**
 * Returns the connection of an HTTP/1 response whose turn has come; undefined for a pipelined response that waits for
 * its turn, for HTTP/2, and for requests without a real connection.
 */
export function connectionOf(req: IncomingMessage, res: ServerResponse): Socket | undefined {
  const { socket } = req
  if (res.socket !== socket || req.httpVersionMajor >= 2) return undefined
  return isEmitter(socket) && isReadable(socket) ? socket : undefined
}

/** Whether the response follows the events of its socket. A plain object in place of a socket emits none. */
export function hasConnection(res: ServerResponse): boolean {
  return !res.socket || isEmitter(res.socket)
}

function isEmitter(socket: unknown): boolean {
  return typeof (socket as Partial<Socket> | undefined)?.prependOnceListener === 'function'
}

// a request injected by a test has an event emitter with an address as its socket
function isReadable(carrier: Carrier): boolean {
  return typeof (carrier as Partial<Socket>).isPaused === 'function'
}

/**
 * Whether the response was sent completely. HTTP/2 also emits `finish` for a stream that the client has reset, and the
 * stream of a HEAD request is finished from its start.
 */
export function isComplete(req: IncomingMessage, res: ServerResponse): boolean {
  if (!res.writableFinished) return false
  if (req.httpVersionMajor < 2) return (res.errored ?? undefined) === undefined
  const stream = streamOf(res)
  return res.headersSent && (!stream || (!stream.aborted && stream.rstCode === 0))
}

/** Aborts a response that was partly sent, so that its reader notices that it is incomplete. */
export function abortResponse(req: IncomingMessage, res: ServerResponse): void {
  if (req.httpVersionMajor < 2) res.destroy()
  else streamOf(res)?.close(INTERNAL_ERROR)
}

// the compatibility API of HTTP/2 has a stream, which the HTTP/1 types do not declare
function streamOf(res: ServerResponse): Http2Stream | undefined {
  return (res as { stream?: Http2Stream }).stream
}
