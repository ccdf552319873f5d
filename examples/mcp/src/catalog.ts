import { McpServer } from '@modelcontextprotocol/server'
import { type Clock, limitTools } from '@sluice/mcp'
import { z } from 'zod'

const GOODS = ['green tea', 'black tea', 'coffee', 'cocoa']

export interface CatalogOptions {
  readonly clock?: Clock | undefined
  /** Called when a report starts; the report ends when its promise has settled. Default: it ends at once. */
  readonly report?: (() => Promise<void>) | undefined
}

/** Returns a function that creates servers with the tools of a catalog. All servers share one set of limits. */
export function createCatalog({ clock, report = async () => {} }: CatalogOptions = {}): () => McpServer {
  const limits = limitTools({
    clock,
    // 30 calls of a client per minute, of all tools together
    rateLimit: { name: 'calls', limit: 30, window: '1m', key: ({ principal }) => principal },
    tools: {
      // in addition, because the policy has another name
      search: { rateLimit: { name: 'search', limit: 5, window: '10s' } },
      describe: {
        rateLimit: {
          name: 'words',
          algorithm: 'token-bucket',
          limit: 300,
          window: '1m',
          unit: 'words',
          cost: {
            reserve: ({ args }) => Math.min(Math.max(1, Number(args.words) || 1), 301),
            settle: (_call, { result }) => Number(result?.structuredContent?.words),
          },
        },
      },
      report: { inflightLimit: { name: 'reports', limit: 2 } },
    },
  })

  return () => {
    const server = limits.apply(new McpServer({ name: 'catalog', version: '1.0.0' }))
    server.registerTool(
      'search',
      { description: 'Finds goods whose name contains a text', inputSchema: z.object({ text: z.string() }) },
      async ({ text }) => asText(GOODS.filter((name) => name.includes(text)).join('\n')),
    )
    server.registerTool(
      'describe',
      {
        description: 'Describes goods in a number of words; a shorter description costs less',
        inputSchema: z.object({ name: z.string(), words: z.number().int().min(1) }),
        outputSchema: z.object({ description: z.string(), words: z.number() }),
      },
      async ({ name, words }) => {
        const written = Array.from({ length: Math.min(words, 100) }, () => name.split(' ')[0])
        const structuredContent = { description: written.join(' '), words: written.length }
        return { ...asText(structuredContent.description), structuredContent }
      },
    )
    server.registerTool('report', { description: 'Counts all goods' }, async () => {
      await report()
      return asText(`${GOODS.length} goods`)
    })
    return server
  }
}

function asText(text: string): { content: [{ type: 'text'; text: string }] } {
  return { content: [{ type: 'text', text }] }
}
