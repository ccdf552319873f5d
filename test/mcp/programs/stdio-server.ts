import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { limitTools } from '@sluice/mcp'

// A server on stdio with a limited tool that returns the principal of the call.
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
const server = limits.apply(new McpServer({ name: 'stdio', version: '1.0.0' }))
server.registerTool('whoami', {}, async () => ({ content: [{ type: 'text', text: principal }] }))
void server.connect(new StdioServerTransport())
