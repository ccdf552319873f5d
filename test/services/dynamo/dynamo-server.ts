import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { Readable } from 'node:stream'
import dynalite from 'dynalite'
import { onFreePorts } from '../free-port.ts'
import { type Call, DynamoTransactions, type Reply } from './dynamo-transactions.ts'

/** Treats a request in another way than the server does. `run` runs it and sends the answer. */
export type Fault = (res: ServerResponse, run: () => Promise<void>) => unknown

const PREFIX = 'DynamoDB_20120810.'
/** Time for which a new table is in creation. */
const CREATE_MS = 20

/**
 * A DynamoDB without AWS: dynalite, which has neither transactions nor expiry, in a server that adds both as AWS
 * documents them. All requests for rows pass one lock. Expired rows are never deleted.
 */
export class DynamoServer {
  readonly port: number
  /** Operations in the order in which they arrived. */
  readonly operations: string[] = []
  /** For the next requests, one each. */
  readonly faults: Fault[] = []
  /** Returns the fault of other requests, by their operation. */
  faultOf: (operation: string) => Fault | undefined = () => undefined
  /** Number of connections accepted since the last `listen`. */
  connections = 0
  readonly #front: Server
  readonly #dynalite: Server = dynalite({ createTableMs: CREATE_MS })
  readonly #transactions = new DynamoTransactions()
  readonly #expiring = new Map<string, unknown>()
  #lock: Promise<unknown> = Promise.resolve()

  static start(): Promise<DynamoServer> {
    return onFreePorts(async (port) => {
      const server = new DynamoServer(port)
      await server.listen()
      return server
    })
  }

  private constructor(port: number) {
    this.port = port
    this.#front = createServer((req, res) => {
      // the client has left
      this.#answer(req, res).catch(() => res.destroy())
    })
    this.#front.on('connection', () => this.connections++)
  }

  /** Accepts connections, also again after `stop`. */
  async listen(): Promise<void> {
    this.connections = 0
    await once(this.#front.listen(this.port, '127.0.0.1'), 'listening')
  }

  /** Closes all connections and accepts no more. Keeps the tables. */
  async stop(): Promise<void> {
    this.#front.closeAllConnections()
    await new Promise((resolve) => this.#front.close(resolve))
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
    const fault = this.faults.shift() ?? this.faultOf(operation)
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

  /** Passes a request to dynalite, which needs no connection for it. */
  #forward({ authorization, 'x-amz-date': date }: IncomingHttpHeaders, to: string, input: unknown): Promise<Reply> {
    const headers = {
      authorization: String(authorization),
      'x-amz-date': String(date),
      'x-amz-target': PREFIX + to,
      'content-type': 'application/x-amz-json-1.0',
    }
    return new Promise((resolve) => {
      const req = Object.assign(Readable.from([Buffer.from(JSON.stringify(input))]), {
        method: 'POST',
        url: '/',
        headers,
      })
      const res = {
        statusCode: 200,
        setHeader: () => {},
        end: (body: string) => resolve({ status: res.statusCode, output: JSON.parse(body) }),
      }
      this.#dynalite.emit('request', req, res)
    })
  }
}
