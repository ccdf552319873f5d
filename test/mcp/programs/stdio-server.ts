import { limitTools } from '@sluice/mcp'
import { sdks } from '../connected.ts'

// A server on stdio with a limited tool that returns the principal of the call. The argument names the SDK.
const sdk = sdks.find(({ name }) => name === process.argv[1]) ?? sdks[0]
let principal = ''
const limits = limitTools({
  rateLimit: {
    limit: 2,
    window: '1h',
    skip: (call) => {
      principal = call.principal
      return false
    },
  },
})
sdk.serveStdio(() => {
  const server = limits.apply(sdk.newServer())
  server.registerTool('whoami', {}, async () => ({ content: [{ type: 'text', text: principal }] }))
  return server
})
