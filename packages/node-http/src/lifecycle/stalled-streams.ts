import { constants, type Http2Stream } from 'node:http2'
import { Sweep } from './sweep.ts'

/** How long a stalled stream may go unnoticed. */
const CHECK_MS = 200

const { NGHTTP2_STREAM_STATE_IDLE, NGHTTP2_STREAM_STATE_CLOSED } = constants

/**
 * Destroys streams of HTTP/2 that have stalled. One whose client resets it with NO_ERROR while the end of the response
 * is still to be written never emits `close`, and keeps its session and socket open after their client has gone.
 */
export const stalledStreams: Sweep<Http2Stream> = new Sweep(CHECK_MS, (stream) => {
  if (isStalled(stream)) stream.destroy()
  return stream.destroyed
})

/** Closed for the protocol, though not for Node. One that the server closes itself keeps its state until all is sent. */
function isStalled(stream: Http2Stream): boolean {
  if (stream.destroyed || !stream.closed || stream.writableFinished) return false
  const { state } = stream.state
  return state === undefined || state === NGHTTP2_STREAM_STATE_IDLE || state === NGHTTP2_STREAM_STATE_CLOSED
}
