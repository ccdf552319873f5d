import { constants, type Http2Stream } from 'node:http2'
import { systemClock } from '@sluice/limiter-core'

/** How long a stalled stream may go unnoticed. */
const CHECK_MS = 200

const { NGHTTP2_STREAM_STATE_IDLE, NGHTTP2_STREAM_STATE_CLOSED } = constants

const watched = new Set<Http2Stream>()
let isChecking = false

/**
 * Destroys the stream once it has stalled. A stream of HTTP/2 whose client resets it with NO_ERROR while the end of the
 * response is still to be written never emits `close`, and keeps its session and socket open after their client has
 * gone. No event tells: its state is looked at, of all watched streams at once.
 */
export function watchStalled(stream: Http2Stream): void {
  watched.add(stream)
  if (!isChecking) checkLater()
}

function checkLater(): void {
  isChecking = true
  systemClock.after(CHECK_MS, checkAll)
}

function checkAll(): void {
  for (const stream of watched) {
    if (isStalled(stream)) stream.destroy()
    if (stream.destroyed) watched.delete(stream)
  }
  isChecking = false
  if (watched.size > 0) checkLater()
}

/** Closed for the protocol, though not for Node. One that the server closes itself keeps its state until all is sent. */
function isStalled(stream: Http2Stream): boolean {
  if (stream.destroyed || !stream.closed || stream.writableFinished) return false
  const { state } = stream.state
  return state === undefined || state === NGHTTP2_STREAM_STATE_IDLE || state === NGHTTP2_STREAM_STATE_CLOSED
}
