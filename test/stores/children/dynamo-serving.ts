import { DynamoServer } from '../../services/dynamo/dynamo-server.ts'

/** Starts a server in this process, which can be paused and killed, and returns its URL. */
export async function serve(): Promise<string> {
  return (await DynamoServer.start()).url
}
