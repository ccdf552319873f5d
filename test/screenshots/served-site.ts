import { existsSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { type Listening, listening } from '../insight/page/open-page.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** Serves a built site below `place`, such as `/any/folder/`, as a server for files does. */
export function servedSite(site: string, place = '/'): Promise<Listening> {
  return listening((req, res) => {
    const { pathname } = new URL(req.url ?? '', 'http://localhost')
    const file = join(site, pathname.slice(place.length) || 'index.html')
    if (!pathname.startsWith(place) || !existsSync(file)) return res.writeHead(404).end()
    return res.writeHead(200, { 'content-type': TYPES[extname(file)] }).end(readFileSync(file))
  })
}
