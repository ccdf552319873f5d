import { SluiceError } from '@sluice/limiter-core/backend'

/** Whether a target is the absolute path of a socket. */
export function isSocketPath(target: string): boolean {
  return /^\/[^/]/.test(target)
}

/**
 * Returns `url`; throws `SLUICE_BAD_OPTION` unless it is a Redis URL or an absolute path. Never shows the URL: it may
 * contain a password.
 */
export function redisUrl(owner: string, url: string): string {
  if (isSocketPath(url)) return url
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const fits = parsed && /^rediss?:$/.test(parsed.protocol) && parsed.hostname && /^(\/\d*)?$/.test(parsed.pathname)
  if (fits) return url
  const expected = 'redis://host:6379/0, rediss://… or the absolute path of a socket'
  const received = parsed ? 'another kind of URL' : 'a string that is not a URL'
  throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: target: expected ${expected}, received ${received}`)
}
