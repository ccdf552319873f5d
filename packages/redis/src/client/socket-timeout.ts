import { parseTimerMs } from '@sluice/limiter-core/backend'

/**
 * Default of `socketTimeout`. Nothing else detects a network path that drops packets: the socket is never closed, and
 * the deadline of a request ends the wait but not the connection.
 */
const SOCKET_TIMEOUT_MS = 1_000

/** Returns the socket timeout in ms, with its default. Throws `SLUICE_BAD_DURATION` if it is invalid. */
export function socketTimeoutMs(owner: string, socketTimeout: number | undefined): number {
  return parseTimerMs(socketTimeout ?? SOCKET_TIMEOUT_MS, `${owner}: socketTimeout`)
}
