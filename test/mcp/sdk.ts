import type { IncomingMessage, ServerResponse } from 'node:http'

/** Result of a tool call. */
export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
  readonly [member: string]: unknown
}

/** Arguments of the tools of the tests. */
export interface ToolArgs {
  readonly text?: string | undefined
  readonly [name: string]: unknown
}

/** An `McpServer` of any version of the SDK. */
export interface TestServer {
  readonly server: LowLevelServer
  registerTool(
    name: string,
    config: { readonly inputSchema?: unknown },
    run: (args: ToolArgs) => Promise<ToolResult>,
  ): RegisteredTool
  registerResource(
    name: string,
    uri: string,
    config: object,
    read: (uri: URL) => Promise<{ contents: readonly { uri: string; text: string }[] }>,
  ): unknown
}

/** A `Server` of any version of the SDK. */
interface LowLevelServer {
  setRequestHandler(...args: never[]): unknown
}

export interface RegisteredTool {
  update(updates: { readonly callback?: () => Promise<ToolResult>; readonly enabled?: boolean }): void
  disable(): void
  remove(): void
}

/** A `Client` of any version of the SDK. */
export interface TestClient {
  callTool(name: string, args?: ToolArgs, signal?: AbortSignal): Promise<ToolResult>
  listTools(): Promise<{ readonly tools: readonly unknown[] }>
  listResources(): Promise<{ readonly resources: readonly unknown[] }>
  readResource(uri: string): Promise<{ readonly contents: readonly unknown[] }>
  /** Closes the connection. */
  close(): Promise<void>
}

/** Answers requests over HTTP. The property `auth` is the verified access token. */
type HttpListener = (req: IncomingMessage & { auth?: TestAuth }, res: ServerResponse) => Promise<void>

export interface TestAuth {
  token: string
  clientId: string
  scopes: string[]
  extra?: Record<string, unknown>
}

/** A version of the SDK with a version of the protocol. */
export interface Sdk {
  readonly name: string
  /** Whether HTTP has sessions. The protocol 2026-07-28 has none. */
  readonly sessions: boolean
  /** Returns a server without tools. */
  newServer(): TestServer
  /** Returns a low-level server without handlers. */
  newLowLevelServer(): LowLevelServer
  /** Registers the handler of tool calls on a low-level server. */
  handleCalls(server: LowLevelServer, name: (tool: string) => ToolResult): void
  /** Returns the signal that cancels a call, from the last argument of its tool. */
  signalOf(extra: unknown): AbortSignal
  /** Returns the message of a JSON-RPC error, as clients report it. */
  errorMessage(code: number, text: string): string
  /** Connects a client to a server in this process. */
  connect(server: TestServer | LowLevelServer): Promise<TestClient>
  /** Starts a process that serves on stdio, and connects a client to it. */
  connectToProcess(args: readonly string[], cwd: string): Promise<TestClient>
  connectToUrl(url: string, headers: Record<string, string>): Promise<TestClient>
  /** Serves on the stdio of this process. */
  serveStdio(newServer: () => TestServer): void
  /** Serves each request with a server of its own, or each session if `sessions` is set. */
  httpListener(newServer: () => TestServer, sessions: boolean): HttpListener
}
