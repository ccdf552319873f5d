import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** Serves a folder to this machine, below `path`, such as `/` or `/docs/`. Returns the server. */
export function serve(folder, port, path = '/') {
  const server = createServer((req, res) => {
    const asked = normalize(decodeURIComponent(new URL(req.url, 'http://localhost').pathname))
    const named = asked.startsWith(path) ? join(folder, asked.slice(path.length)) : ''
    const file = named !== '' && asked.endsWith('/') ? join(named, 'index.html') : named
    if (!existsSync(file) || !statSync(file).isFile()) return res.writeHead(404).end('not found')
    res.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
    createReadStream(file).pipe(res)
  })
  return server.listen(port, '127.0.0.1')
}
