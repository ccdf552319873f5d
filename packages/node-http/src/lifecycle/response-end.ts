import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { onCarrierClose } from '@sluice/http'
import { closeResponse } from './closed-response.ts'
import { stalledStreams } from './stalled-streams.ts'

/** RFC 9113, section 7. Reading it from `node:http2` would load that module, and that of TLS, in every process. */
const INTERNAL_ERROR = 2

/** Transport of a response: its connection, or its stream in HTTP/2. */
export type Carrier = Duplex

/**
 * Calls `run` when the carrier of a response closes, possibly before the response got its turn, and makes all listeners
 * receive the `close` of the response. Returns a function that cancels `run`.
 */
export function onAbandoned(res: ServerResponse, carrier: Carrier | undefined, run: () => void): () => void {
  if (!carrier) return () => {}
  // the carrier has already emitted `close` to its earlier listeners
  if (carrier.closed) closeResponse(res)
  return onCarrierClose(carrier, () => {
    run()
    closeResponse(res)
  })
}

/** Ensures that an HTTP/2 response which can no longer be sent ends. */
export function watchStream(res: ServerResponse): void {
  const stream = streamOf(res)
  if (stream) stalledStreams.add(stream)
}

/** Whether the response has been sent completely, or its client has left. */
export function isGone(res: ServerResponse, carrier: Carrier | undefined, isHttp2: boolean): boolean {
  // a response that has not ended is neither finished nor closed
  if (res.destroyed || (res.writableEnded && (res.writableFinished || res.closed))) return true
  return carrier ? carrier.destroyed || carrier.closed : isHttp2
}

/**
 * Returns the connection or stream of a response. Undefined if the HTTP/2 stream is gone, or without a connection:
 * adapters of serverless functions and mocks of tests use a plain object with an address as the socket.
 */
export function carrierOf(req: IncomingMessage, res: ServerResponse, isHttp2: boolean): Carrier | undefined {
  if (isHttp2) return streamOf(res)
  const { socket } = req
  return isEmitter(socket) ? socket : undefined
}

/**
 * Returns the connection of an HTTP/1 response whose turn has come; undefined for a pipelined response that waits for
 * its turn, for HTTP/2, and for requests without a real connection.
 */
export function connectionOf(res: ServerResponse, carrier: Carrier | undefined): Socket | undefined {
  return carrier && isReadable(carrier) && res.socket === carrier ? (carrier as Socket) : undefined
}

/** Whether this is a response of Node, which emits `finish` when it has been sent. A test may use another object. */
export function isServerResponse(res: ServerResponse): boolean {
  return typeof (res as Partial<ServerResponse>).writableFinished === 'boolean'
}

/** Whether the response follows the events of its socket. A plain object in place of a socket emits none. */
export function hasConnection({ socket }: ServerResponse): boolean {
  return !socket || isEmitter(socket)
}

function isEmitter(socket: unknown): boolean {
  return typeof (socket as Partial<Socket> | undefined)?.prependOnceListener === 'function'
}

/** Whether Node reads the carrier. A request injected by a test has an event emitter with an address as its socket. */
export function isReadable(carrier: Carrier): boolean {
  return typeof (carrier as Partial<Socket>).isPaused === 'function'
}

/**
 * Whether the response was sent completely. HTTP/2 also emits `finish` for a stream that the client has reset, and the
 * stream of a HEAD request is finished from its start.
 */
export function isComplete(res: ServerResponse, isHttp2: boolean): boolean {
  if (!res.writableFinished) return false
  if (!isHttp2) return (res.errored ?? undefined) === undefined
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
