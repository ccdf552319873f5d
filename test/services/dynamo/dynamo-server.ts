import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import dynalite from 'dynalite'
import { type Call, DynamoTransactions, type Reply } from './dynamo-transactions.ts'

/** Treats a request in another way than the server does. `run` runs it and sends the answer. */
export type Fault = (res: ServerResponse, run: () => Promise<void>) => unknown

const PREFIX = 'DynamoDB_20120810.'
/** Time for which a new table is in creation. */
const CREATE_MS = 20

/**
 * A DynamoDB without AWS: dynalite, which has neither transactions nor expiry, behind a server that adds both as AWS
 * documents them. All requests for rows pass one lock. Expired rows are never deleted.
 */
export class DynamoServer {
  readonly url: string
  /** Operations in the order in which they arrived. */
  readonly operations: string[] = []
  /** For the next requests, one each. */
  readonly faults: Fault[] = []
  readonly #front: Server
  readonly #dynalite: Server
  readonly #transactions = new DynamoTransactions()
  readonly #expiring = new Map<string, unknown>()
  #lock: Promise<unknown> = Promise.resolve()

  static async start(): Promise<DynamoServer> {
    const inner = dynalite({ createTableMs: CREATE_MS })
    await once(inner.listen(0, '127.0.0.1'), 'listening')
    const front = createServer((req, res) => void server.#answer(req, res))
    await once(front.listen(0, '127.0.0.1'), 'listening')
    const server = new DynamoServer(front, inner)
    return server
  }

  private constructor(front: Server, inner: Server) {
    this.#front = front
    this.#dynalite = inner
    this.url = urlOf(front)
  }

  async stop(): Promise<void> {
    for (const server of [this.#front, this.#dynalite]) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of req) parts.push(part as Buffer)
    const operation = String(req.headers['x-amz-target']).replace(PREFIX, '')
    const body = JSON.parse(Buffer.concat(parts).toString())
    this.operations.push(operation)
    const call: Call = (inner, input) => this.#forward(req.headers, inner, input)
    const run = async (): Promise<void> => {
      const { status, output } = await this.#locked(() => this.#replyTo(operation, body, call))
      res.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(output))
    }
    const fault = this.faults.shift()
    await (fault ? fault(res, run) : run())
  }

  #locked<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#lock.then(run)
    this.#lock = result.catch(() => {})
    return result
  }

  async #replyTo(operation: string, body: Record<string, unknown>, call: Call): Promise<Reply> {
    const table = String(body.TableName)
    if (operation === 'TransactWriteItems') return this.#transactions.write(body as never, call)
    if (operation === 'DescribeTimeToLive') {
      const TimeToLiveStatus = this.#expiring.has(table) ? 'ENABLED' : 'DISABLED'
      return { status: 200, output: { TimeToLiveDescription: { TimeToLiveStatus } } }
    }
    if (operation !== 'UpdateTimeToLive') return call(operation, body)
    this.#expiring.set(table, body.TimeToLiveSpecification)
    return { status: 200, output: { TimeToLiveSpecification: body.TimeToLiveSpecification } }
  }

  async #forward(
    { authorization, 'x-amz-date': date }: IncomingHttpHeaders,
    to: string,
    input: unknown,
  ): Promise<Reply> {
    const headers = {
      authorization: String(authorization),
      'x-amz-date': String(date),
      'x-amz-target': PREFIX + to,
      'content-type': 'application/x-amz-json-1.0',
    }
    const answer = await fetch(urlOf(this.#dynalite), { method: 'POST', headers, body: JSON.stringify(input) })
    return { status: answer.status, output: (await answer.json()) as Record<string, unknown> }
  }
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
