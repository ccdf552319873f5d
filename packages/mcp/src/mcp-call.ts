import { type LimiterReport, messageOf } from '@sluice/http'

/** The verified access token of a request. */
export interface CallAuth {
  /** Id of the OAuth client. Users of one application may share it. */
  readonly clientId: string
  readonly scopes: readonly string[]
  /** Further data of the token, such as the id of its user, as your token verifier returned it. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

/** A request to an MCP server, before its principal is known. */
export interface McpRequest {
  /** `tools/call`, or the method of another limited request. */
  readonly method: string
  /** Name of the called tool, as the client sent it; an empty string for other methods. */
  readonly tool: string
  /** Arguments of the tool or prompt, as the client sent them: they have not been validated. */
  readonly args: Readonly<Record<string, unknown>>
  /**
   * All parameters of the request, such as `uri` of `resources/read`. If the handler has a schema for them (version 2 of
   * the SDK), as the schema returns them.
   */
  readonly params: Readonly<Record<string, unknown>>
  /** The access token. Undefined on stdio, and without authentication. */
  readonly authInfo: CallAuth | undefined
  /** Session of the transport. Undefined on stdio, and on HTTP without sessions. */
  readonly sessionId: string | undefined
  /** Returns a header of the HTTP request; undefined on stdio. The SDK joins a repeated header with commas. */
  header(name: string): string | undefined
}

/** A request to an MCP server, as hooks and key sources receive it. */
export interface McpCall extends McpRequest {
  /**
   * The client that is limited: the result of the option `principal` or, without it, `client <client id>` of the access
   * token, else `session <session id>`, else `process`.
   */
  readonly principal: string
}

/** Returns the name of the client; undefined for the default name. */
export type PrincipalHook = (request: McpRequest) => string | number | undefined

/** A request as the SDK passes it to handlers. */
export interface RawRequest {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/** Second argument of handlers: `RequestHandlerExtra` of version 1 of the SDK, `ServerContext` of version 2. */
export interface RawExtra {
  readonly signal?: AbortSignal | undefined
  readonly authInfo?: CallAuth | undefined
  readonly sessionId?: string | undefined
  readonly requestInfo?: { readonly headers?: Readonly<Record<string, unknown>> } | undefined
  readonly mcpReq?: { readonly signal?: AbortSignal } | undefined
  readonly http?: { readonly authInfo?: CallAuth; readonly req?: { readonly headers: Headers } } | undefined
}

const NOTHING: Readonly<Record<string, unknown>> = {}

/** Returns the call of a request. A `principal` that fails is reported, and the default principal counts instead. */
export function callOf(
  request: RawRequest,
  extra: RawExtra,
  principal: PrincipalHook | undefined,
  report: LimiterReport,
): McpCall {
  const { method, params = NOTHING } = request
  const { authInfo = extra.http?.authInfo, sessionId } = extra
  const plain: McpRequest = {
    method,
    tool: method === 'tools/call' ? String(params.name) : '',
    args: (params.arguments ?? NOTHING) as McpRequest['args'],
    params,
    authInfo,
    sessionId,
    header: (name) => headerOf(extra, name),
  }
  return { ...plain, principal: namedPrincipal(plain, principal, report) ?? defaultPrincipal(plain) }
}

/** Returns the signal that is aborted when the client cancels the request. */
export function signalOf({ signal, mcpReq }: RawExtra): AbortSignal | undefined {
  return signal ?? mcpReq?.signal
}

function namedPrincipal(
  request: McpRequest,
  principal: PrincipalHook | undefined,
  report: LimiterReport,
): string | undefined {
  if (!principal) return undefined
  try {
    const name: unknown = principal(request)
    if (name === undefined || name === null) return undefined
    if (typeof name === 'string' || Number.isFinite(name)) return String(name)
    // a hook must not return a promise, and a rejection that nothing handles would end the process
    if (name instanceof Promise) name.catch(() => {})
    throw new TypeError(`expected a string, received ${messageOf(name)}`)
  } catch (error) {
    report.hookFailed('principal', error, 'and the client id, the session or the process is counted instead')
    return undefined
  }
}

function defaultPrincipal({ authInfo, sessionId }: McpRequest): string {
  if (authInfo?.clientId !== undefined) return `client ${authInfo.clientId}`
  return sessionId === undefined ? 'process' : `session ${sessionId}`
}

function headerOf({ requestInfo, http }: RawExtra, name: string): string | undefined {
  const value = http?.req?.headers.get(name) ?? requestInfo?.headers?.[name.toLowerCase()]
  return typeof value === 'string' ? value : undefined
}
