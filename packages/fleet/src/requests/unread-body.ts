import type { RequestHeaders } from './local-request.ts'

/** A request, and whether its body was received completely. */
interface ReceivedRequest extends RequestHeaders {
  readonly complete: boolean
  readonly httpVersionMajor: number
}

/**
 * Whether an unread body remains on the connection of a request. The connection must close after the response then,
 * because the next request would follow that body. False over HTTP/2, where each request has its own stream.
 */
export function hasUnreadBody({ headers, complete, httpVersionMajor }: ReceivedRequest): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
  return hasBody && !complete && httpVersionMajor < 2
}
