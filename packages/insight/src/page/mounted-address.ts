import type { IncomingMessage } from 'node:http'

/** Address of a request relative to the mount path. */
export interface MountedAddress {
  /** Path below the mount path without its leading slash; empty for the page itself. */
  readonly file: string
  /** Mount path as seen by the client, used as the path of the cookie. */
  readonly folder: string
  /** Relative redirect target; set if the trailing slash of the mount path is missing. */
  readonly redirect?: string
}

/**
 * Returns the address of a request below `path`, or undefined if it is elsewhere. Express and Connect have already
 * removed the mount path from `url`.
 */
export function mountedAddress(req: IncomingMessage, path: string): MountedAddress | undefined {
  const pathname = pathnameOf(req.url ?? '/')
  const { originalUrl = req.url } = req as { readonly originalUrl?: string }
  const original = pathnameOf(originalUrl ?? '/')
  const isCut = original !== pathname
  if (!isCut && pathname !== path && !pathname.startsWith(`${path}/`)) return undefined
  const file = (isCut ? pathname : pathname.slice(path.length)).replace(/^\//, '')
  const folder = original.slice(0, original.length - file.length)
  if (folder.endsWith('/')) return { file, folder }
  return { file, folder, redirect: `./${folder.slice(folder.lastIndexOf('/') + 1)}/` }
}

function pathnameOf(url: string): string {
  return url.split('?')[0] || '/'
}

/** Returns the part after the first question mark of a request's address. */
export function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const [, ...query] = url.split('?')
  return new URLSearchParams(query.join('?'))
}
