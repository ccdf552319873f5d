import { type Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly agent?: Agent
}

/** A response: header names in lower case, and the body as latin1, so that each byte is a character. */
export interface Answered {
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Whether the connection had carried another request before. */
  readonly reused: boolean
}

/** A request under way, which the client may leave. */
export interface Pending {
  readonly answer: Promise<Answered>
  abort(): void
}

// headers that servers or frameworks write, independent of limiters
const OF_THE_SERVER = ['date', 'connection', 'keep-alive', 'x-powered-by', 'transfer-encoding']

/** Sends a request over a separate socket unless `agent` is set. */
export function start(port: number, { method = 'GET', path = '/', headers = {}, body, agent }: Asked = {}): Pending {
  const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: agent ?? false })
  const answer = answered(sent)
  // a client that disconnects ignores the outcome
  answer.catch(() => {})
  sent.end(body)
  return { answer, abort: () => sent.destroy() }
}

export function ask(port: number, asked?: Asked): Promise<Answered> {
  return start(port, asked).answer
}

/** The headers that are not the server's own. */
export function own(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_SERVER.includes(name)))
}

function answered(sent: ClientRequest): Promise<Answered> {
  return new Promise((resolve, reject) => {
    sent.once('error', reject)
    sent.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => resolve(read(response, Buffer.concat(chunks), sent.reusedSocket)))
    })
  })
}

function read({ statusCode = 0, statusMessage = '', rawHeaders }: IncomingMessage, body: Buffer, reused: boolean) {
  const headers: Record<string, string> = {}
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index].toLowerCase()
    // several lines of one name are one list, and a test that expects one line sees the comma
    headers[name] = name in headers ? `${headers[name]}, ${rawHeaders[index + 1]}` : rawHeaders[index + 1]
  }
  return { status: statusCode, reason: statusMessage, headers, body: body.toString('latin1'), reused }
}
