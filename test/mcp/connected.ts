import { type LimitToolsOptions, limitTools, type ToolLimits } from '@sluice/mcp'
import { FakeClock } from '@sluice/testkit'
import { z } from 'zod'
import type { RegisteredTool, Sdk, TestClient, TestServer, ToolArgs } from './sdk.ts'
import { sdk1 } from './sdk1.ts'
import { sdk2, sdk2Latest } from './sdk2.ts'

/** All tested versions of the SDK, with all tested versions of the protocol. */
export const sdks: readonly Sdk[] = [sdk1, sdk2, sdk2Latest]

/** Registers a tool that returns its text, and whose result has the number of words of the text in `_meta`. */
export function addEcho(server: TestServer, name: string): RegisteredTool {
  return server.registerTool(
    name,
    { inputSchema: z.object({ text: z.string().optional() }) },
    async ({ text = '' }) => ({
      content: [{ type: 'text', text }],
      _meta: { words: text.split(' ').length },
    }),
  )
}

/** A client of a server with limits. */
export interface Connected {
  readonly client: TestClient
  readonly server: TestServer
  readonly clock: FakeClock
  readonly limits: ToolLimits
}

/** Connects a client to a server with limits and the tools `search` and `read`. */
export async function connectLimited(sdk: Sdk, options: LimitToolsOptions): Promise<Connected> {
  const clock = new FakeClock()
  const limits = limitTools({ clock, ...options })
  const server = limits.apply(sdk.newServer())
  for (const name of ['search', 'read']) addEcho(server, name)
  return { client: await sdk.connect(server), server, clock, limits }
}

/**
 * Calls a tool, and returns the text of its result, or `denied: <text>` if the result is an error. A JSON-RPC error
 * returns the text that version 1 of the SDK writes into a result.
 */
export async function call(client: TestClient, name: string, args: ToolArgs = {}): Promise<string> {
  try {
    const { content, isError } = await client.callTool(name, args)
    const text = content[0]?.text ?? ''
    return isError ? `denied: ${text}` : text
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string }
    if (typeof code !== 'number') throw error
    return `denied: MCP error ${code}: ${message.replace(`MCP error ${code}: `, '')}`
  }
}

/** Calls a tool several times, one after the other. Returns the number of results that are no errors. */
export async function allowed(client: TestClient, name: string, times: number): Promise<number> {
  let count = 0
  for (let time = 0; time < times; time++) if (!(await call(client, name)).startsWith('denied')) count++
  return count
}
