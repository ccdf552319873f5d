import type { HttpDenial, HttpExchange } from '@sluice/http'
import type { McpCall } from './mcp-call.ts'
import type { ToolLife } from './tool-life.ts'

/** Result of a tool or of another request. */
export interface CallResult {
  /** Whether the tool failed. */
  readonly isError?: boolean | undefined
  readonly content?: readonly unknown[] | undefined
  readonly structuredContent?: Readonly<Record<string, unknown>> | undefined
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
  readonly [member: string]: unknown
}

/** The reply to a call, as `settle` and `denied` receive it. */
export interface CallReply {
  /** What the handler returned. Undefined before it has returned, if it threw, and for a denied call. */
  result: CallResult | undefined
}

const NO_HEADERS: { readonly origin?: string } = {}

/** A call and its reply, as limits read and write them. A reply of MCP has no headers. */
export class ToolExchange implements HttpExchange<McpCall, CallReply> {
  readonly raw: McpCall
  readonly res: CallReply = { result: undefined }
  readonly life: ToolLife
  /** Name of the tool, or the method of another request, if the options of `limitTools` list it. */
  readonly route: string | undefined
  readonly ip: undefined
  readonly headers: { readonly origin?: string } = NO_HEADERS
  readonly headerNames: readonly string[] = []
  /** The denial that was sent: the default one, or one with the body of the option `message`. */
  sent: HttpDenial | undefined
  /** The result that a `denied` hook returned. */
  returned: CallResult | undefined

  constructor(raw: McpCall, life: ToolLife, route: string | undefined) {
    this.raw = raw
    this.life = life
    this.route = route
  }

  get method(): string {
    return this.raw.method
  }

  get routeMethod(): string {
    return this.raw.method
  }

  get isAnswered(): boolean {
    return this.sent !== undefined || this.returned !== undefined
  }

  get hasEnded(): boolean {
    return this.life.gone
  }

  header(name: string): string | undefined {
    return this.raw.header(name)
  }

  headerText(name: string): string | undefined {
    return this.raw.header(name)
  }

  getHeader(): undefined {}

  setHeader(): void {}

  setLines(): boolean {
    return false
  }

  removeHeader(): void {}

  setStatus(): void {}

  send(denial: HttpDenial): void {
    this.sent = denial
  }

  /** A `denied` hook returns the result. If it returns nothing, the default denial is sent. */
  sendReturned(returned: unknown): void {
    if (typeof returned === 'object' && returned !== null) this.returned = returned as CallResult
  }
}
