import type { IncomingMessage } from 'node:http'

/**
 * Whether an unread body remains on the connection of a request. The connection must close after the response then,
 * because the next request would follow that body. False over HTTP/2, where each request has its own stream.
 */
export function hasUnreadBody({ headers, complete, httpVersionMajor }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
  return hasBody && !complete && httpVersionMajor < 2
}
