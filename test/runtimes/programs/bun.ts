import { runContracts } from './contracts.ts'

interface BunServer {
  readonly port: number
  stop(closeConnections: boolean): Promise<void>
}

declare const Bun: {
  serve(options: {
    readonly port: number
    readonly hostname: string
    readonly fetch: (request: Request, server: BunServer) => Response | Promise<Response>
  }): BunServer
}

const outcome = await runContracts((handler) => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request, info) => handler(request, info) })
  return { port: server.port, close: () => server.stop(true) }
})
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit())
