import { runContracts } from './contracts.ts'

declare const Deno: {
  serve(
    options: { readonly port: number; readonly hostname: string; readonly onListen: () => void },
    handler: (request: Request, info: unknown) => Response | Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> }
}

const outcome = await runContracts((handler) => {
  const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: () => {} }, (request, info) =>
    handler(request, info),
  )
  return { port: server.addr.port, close: () => server.shutdown() }
})
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit())
