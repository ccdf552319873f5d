import type { Http2Stream } from 'node:http2'
import { Sweep } from './sweep.ts'

/** Interval of the checks, and so the maximum time until a stalled stream is detected. */
const CHECK_MS = 200

// NGHTTP2_STREAM_STATE_IDLE and NGHTTP2_STREAM_STATE_CLOSED of `node:http2`, which is loaded only by servers of HTTP/2
const IDLE = 1
const CLOSED = 7

/**
 * Destroys stalled HTTP/2 streams. If the client resets a stream with NO_ERROR before the end of the response has been
 * written, the stream never emits `close`, and keeps its session and socket open after the client has left.
 */
export const stalledStreams: Sweep<Http2Stream> = new Sweep(CHECK_MS, (stream) => {
  if (isStalled(stream)) stream.destroy()
  return stream.destroyed
})

/** Closed for the protocol, but not for Node. A stream closed by the server keeps its state until all data is sent. */
function isStalled(stream: Http2Stream): boolean {
  if (stream.destroyed || !stream.closed || stream.writableFinished) return false
  const { state } = stream.state
  return state === undefined || state === IDLE || state === CLOSED
}
