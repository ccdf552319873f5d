import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** Serves a folder to this machine. */
export function serve(folder, port) {
  const server = createServer((req, res) => {
    const file = fileOf(folder, req.url)
    if (file === undefined) return res.writeHead(404).end('not found')
    res.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
    createReadStream(file).pipe(res)
  })
  return server.listen(port, '127.0.0.1')
}

function fileOf(folder, url) {
  if (!URL.canParse(url, 'http://localhost')) return undefined
  const { pathname } = new URL(url, 'http://localhost')
  // only names of files of the site have these characters
  if (!/^\/[\w./@-]*$/.test(pathname)) return undefined
  const file = join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined
}
