import type { IncomingMessage } from 'node:http'

/** Position of a request below the mount address of the page. */
export interface MountedAddress {
  /** Without its leading slash: empty for the page itself. */
  readonly file: string
  /** The folder of the page as the client sees it, for its cookie. */
  readonly folder: string
  /** Address of the page, relative to one without a trailing slash; otherwise undefined. */
  readonly redirect?: string
}

/** The address of a request below `path`; nothing for one elsewhere. Express and Connect have cut the path off before. */
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
