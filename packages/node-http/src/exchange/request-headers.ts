import type { IncomingMessage } from 'node:http'

/**
 * The value of a header that came exactly once. Node joins repeated headers: `valid, junk1` and `valid, junk2` would be
 * two keys of one client.
 */
export function soleHeader(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name]
  if (typeof value !== 'string') return undefined
  const { rawHeaders } = req
  let times = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index]
    if (raw.length === name.length && raw.toLowerCase() === name) times++
  }
  return times === 1 ? value : undefined
}
