import { runContracts } from './contracts.ts'
import { serveHere } from './worker-client.ts'

export default {
  async fetch(): Promise<Response> {
    return Response.json(await runContracts(serveHere, ['knows-peer']))
  },
}
