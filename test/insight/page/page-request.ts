import { type IncomingHttpHeaders, request } from 'node:http'

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string
}

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends one request to the loopback address, with exactly these headers. For a stream, returns its first update. */
export function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const named = { host: `localhost:${port}`, ...headers }
    const sent = request({ host: '127.0.0.1', port, path, method, headers: named, agent: false }, (response) => {
      let text = ''
      const done = () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        sent.destroy()
      }
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
        if (response.headers['content-type']?.startsWith('text/event-stream') && text.endsWith('}\n\n')) done()
      })
      response.once('end', done).once('error', reject)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

/** Logs in with the given token. */
export function logIn(port: number, folder: string, token: string, headers: Asked['headers'] = {}): Promise<Answered> {
  return ask(port, `${folder}login`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ token }).toString(),
  })
}

/** Returns the cookie of an answer as a browser would send it. */
export function cookieOf({ headers }: Answered): string {
  return (headers['set-cookie']?.[0] ?? '').split(';')[0]
}
