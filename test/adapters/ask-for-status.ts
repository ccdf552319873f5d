import { type Agent, request } from 'node:http'

export interface Asked {
  readonly method?: string
  /** Sent as it is: nothing is resolved or escaped. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The status of an answer, whose body is not kept. */
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
