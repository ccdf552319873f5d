import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isLocalRequest } from '@sluice/fleet/backend'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { addressKey, addressRules } from '@sluice/limiter-core/http'
import { ServiceProblem } from './service-problem.ts'

/**
 * Permission of a token. No scope includes another one. `counters:admin` allows resets, deletions and reading metrics.
 */
export type CounterScope = 'counters:read' | 'counters:write' | 'counters:admin'

export interface CounterServiceToken {
  /** Bearer token (RFC 6750): letters, digits and `-._~+/`, then any number of `=`. */
  readonly token: string
  readonly scopes: readonly CounterScope[]
}

/** Client of a request, with its permissions. */
export interface ServiceCaller {
  /** Key for the rate limiter: derived from the token, or from the address if the request has no known token. */
  readonly key: string
  readonly scopes: ReadonlySet<CounterScope>
  /** Reason why the client has no scopes. */
  readonly refusal: ServiceProblem | undefined
}

interface KnownToken {
  readonly digest: Buffer
  readonly caller: ServiceCaller
}

const SCOPES: readonly CounterScope[] = ['counters:read', 'counters:write', 'counters:admin']
const ALL: ReadonlySet<CounterScope> = new Set(SCOPES)
const NONE: ReadonlySet<CounterScope> = new Set()
const TOKEN = /^[\w\-.~+/]+=*$/
const BEARER = /^Bearer +([\w\-.~+/]+=*) *$/i

/** Whether a request comes from a program on this machine. Web pages send an `Origin`. */
export function isFromLocalProgram(req: IncomingMessage): boolean {
  return req.headers.origin === undefined && isLocalRequest(req)
}

/** Authorizes requests. Without tokens, only requests from this machine are allowed by default. */
export class ServiceAccess {
  readonly #tokens: readonly KnownToken[] | undefined
  readonly #isOpen: boolean

  constructor(tokens: readonly CounterServiceToken[] | undefined, open: unknown = false) {
    if (typeof open !== 'boolean') throw badOption('counterService: open', open, 'true or false')
    if (open && tokens !== undefined) throw badOption('counterService: open', open, 'false, because tokens are set')
    this.#isOpen = open
    this.#tokens = tokens && knownTokens(tokens)
  }

  /**
   * Returns the client of a request. Throws a problem if there are no tokens and the request is from another machine.
   */
  callerOf(req: IncomingMessage): ServiceCaller {
    if (this.#tokens) return this.#bearerOf(req, this.#tokens)
    if (this.#isOpen || isFromLocalProgram(req)) return { key: addressOf(req), scopes: ALL, refusal: undefined }
    throw new ServiceProblem(403, 'not-local', {
      detail: 'the service has no tokens and accepts only requests from this machine',
    })
  }

  #bearerOf(req: IncomingMessage, tokens: readonly KnownToken[]): ServiceCaller {
    const { authorization } = req.headers
    if (authorization === undefined)
      return unknownCaller(req, new ServiceProblem(401, 'token-missing', challenge('Bearer')))
    const digest = digestOf(BEARER.exec(authorization)?.[1] ?? '')
    let found: KnownToken | undefined
    // compares all tokens, so that the response time does not reveal which one matched
    for (const known of tokens) if (timingSafeEqual(known.digest, digest)) found = known
    if (found) return found.caller
    return unknownCaller(req, new ServiceProblem(401, 'token-unknown', challenge('Bearer error="invalid_token"')))
  }
}

/** Throws a problem if a client lacks a scope. An undefined scope is allowed for all clients. */
export function checkScope({ scopes, refusal }: ServiceCaller, scope: CounterScope | undefined): void {
  if (scope === undefined || scopes.has(scope)) return
  if (refusal) throw refusal
  const { headers } = challenge(`Bearer error="insufficient_scope", scope="${scope}"`)
  throw new ServiceProblem(403, 'scope-missing', { headers, detail: `token: expected a token with the scope ${scope}` })
}

function unknownCaller(req: IncomingMessage, refusal: ServiceProblem): ServiceCaller {
  return { key: addressOf(req), scopes: NONE, refusal }
}

function challenge(value: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { 'WWW-Authenticate': value } }
}

function addressOf({ socket }: IncomingMessage): string {
  return addressKey(socket?.remoteAddress ?? '', addressRules()) ?? 'no address'
}

function knownTokens(tokens: readonly CounterServiceToken[]): KnownToken[] {
  if (!Array.isArray(tokens))
    throw badOption('counterService: tokens', tokens, 'an array of objects with token and scopes')
  return tokens.map((entry, index) => {
    const owner = `counterService: tokens[${index}]`
    const { token, scopes } = optionsOf(owner, entry as CounterServiceToken, ['token', 'scopes'])
    if (typeof token !== 'string' || !TOKEN.test(token)) throw badOption(`${owner}: token`, token, 'a Bearer token')
    if (!Array.isArray(scopes) || !scopes.every((scope) => SCOPES.includes(scope))) {
      throw badOption(`${owner}: scopes`, scopes, `an array with some of ${SCOPES.join(', ')}`)
    }
    const digest = digestOf(token)
    const key = `token ${digest.toString('base64url').slice(0, 16)}`
    return { digest, caller: { key, scopes: new Set(scopes), refusal: undefined } }
  })
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
