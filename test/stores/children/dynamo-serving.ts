import { DynamoServer, type Fault } from '../../services/dynamo/dynamo-server.ts'

let server: DynamoServer

/** Starts a server in this process, which can be paused and killed, and returns its port. */
export async function serve(): Promise<number> {
  server = await DynamoServer.start()
  return server.port
}

/** Closes all connections and accepts no more. */
export function refuseConnections(): Promise<void> {
  return server.stop()
}

/** Accepts connections again. */
export function acceptConnections(): Promise<void> {
  return server.listen()
}

/** Number of connections accepted since the last `acceptConnections`. */
export function connections(): number {
  return server.connections
}

/** Answers requests with an error: all, or those with an operation. */
export function refuse(status: number, name: string, operation?: string): void {
  const fault: Fault = (res) =>
    res.writeHead(status).end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}` }))
  server.faultOf = (of) => (operation === undefined || of === operation ? fault : undefined)
}

let endOfDelay: (() => void) | undefined

/** Runs all requests with an operation when `answer` is called. */
export function delay(operation: string): void {
  const ended = new Promise<void>((resolve) => {
    endOfDelay = resolve
  })
  server.faultOf = (of) => (of === operation ? (_, run) => ended.then(run) : undefined)
}

/** Ends `refuse` and `delay`. */
export function answer(): void {
  server.faultOf = () => undefined
  endOfDelay?.()
}
