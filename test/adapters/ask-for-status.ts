import { type Agent, request } from 'node:http'

export interface Asked {
  readonly method?: string
  /** Path of the request, sent unchanged: nothing is resolved or escaped. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns the status of the response; its body is discarded. */
export function askForStatus(port: number, { method = 'GET', path, headers = {} }: Asked, agent?: Agent) {
  return new Promise<number>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: agent ?? false })
    sent.once('error', reject)
    sent.once('response', (response) => {
      response.once('error', reject)
      response.once('end', () => resolve(response.statusCode ?? 0))
      response.resume()
    })
    sent.end()
  })
}
