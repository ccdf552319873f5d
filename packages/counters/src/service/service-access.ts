import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { addressKey, compileAddressOptions } from '@sluice/limiter-core/http'
import { isLocalRequest } from './local-request.ts'
import { ServiceProblem } from './service-problem.ts'

/** What a token allows: none of them includes another. `counters:admin` is to reset, to delete and to read metrics. */
export type CounterScope = 'counters:read' | 'counters:write' | 'counters:admin'

export interface CounterServiceToken {
  /** Letters, digits and `-._~+/`, then any `=`: what a Bearer token may have (RFC 6750). */
  readonly token: string
  readonly scopes: readonly CounterScope[]
}

/** Who asks, as far as it is known. */
export interface ServiceCaller {
  /** By which a limiter counts: of the token, else of the address. */
  readonly key: string
  readonly scopes: ReadonlySet<CounterScope>
  /** Why it has no scope. */
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
const ADDRESSES = compileAddressOptions()

/** Who may ask for what. Closed by default: without tokens only this machine is answered. */
export class ServiceAccess {
  readonly #tokens: readonly KnownToken[] | undefined
  readonly #isOpen: boolean

  constructor(tokens: readonly CounterServiceToken[] | undefined, open: unknown = false) {
    if (typeof open !== 'boolean') throw badOption('counterService: open', open, 'true or false')
    if (open && tokens !== undefined) throw badOption('counterService: open', open, 'false beside tokens')
    this.#isOpen = open
    this.#tokens = tokens && knownTokens(tokens)
  }

  /** Throws a problem for one of another machine where there are no tokens. */
  callerOf(req: IncomingMessage): ServiceCaller {
    if (this.#tokens) return this.#bearerOf(req, this.#tokens)
    if (this.#isOpen || isLocalRequest(req)) return { key: addressOf(req), scopes: ALL, refusal: undefined }
    throw new ServiceProblem(403, 'not-local', { detail: 'without tokens only this machine is answered' })
  }

  #bearerOf(req: IncomingMessage, tokens: readonly KnownToken[]): ServiceCaller {
    const { authorization } = req.headers
    if (authorization === undefined) return stranger(req, new ServiceProblem(401, 'token-missing', challenge('Bearer')))
    const digest = digestOf(BEARER.exec(authorization)?.[1] ?? '')
    let found: KnownToken | undefined
    // all of them, so that the time says nothing of which
    for (const known of tokens) if (timingSafeEqual(known.digest, digest)) found = known
    if (found) return found.caller
    return stranger(req, new ServiceProblem(401, 'token-unknown', challenge('Bearer error="invalid_token"')))
  }
}

/** Throws a problem where a caller lacks a scope; undefined is for everybody. */
export function checkScope({ scopes, refusal }: ServiceCaller, scope: CounterScope | undefined): void {
  if (scope === undefined || scopes.has(scope)) return
  if (refusal) throw refusal
  const { headers } = challenge(`Bearer error="insufficient_scope", scope="${scope}"`)
  throw new ServiceProblem(403, 'scope-missing', { headers, detail: `token: expected one with the scope ${scope}` })
}

function stranger(req: IncomingMessage, refusal: ServiceProblem): ServiceCaller {
  return { key: addressOf(req), scopes: NONE, refusal }
}

function challenge(value: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { 'WWW-Authenticate': value } }
}

function addressOf({ socket }: IncomingMessage): string {
  return addressKey(socket?.remoteAddress ?? '', ADDRESSES) ?? 'no address'
}

function knownTokens(tokens: readonly CounterServiceToken[]): KnownToken[] {
  if (!Array.isArray(tokens)) throw badOption('counterService: tokens', tokens, 'an array of tokens and scopes')
  return tokens.map((entry, index) => {
    const owner = `counterService: tokens[${index}]`
    const { token, scopes } = optionsOf(owner, entry as CounterServiceToken, ['token', 'scopes'])
    if (typeof token !== 'string' || !TOKEN.test(token)) throw badOption(`${owner}: token`, token, 'a Bearer token')
    if (!Array.isArray(scopes) || !scopes.every((scope) => SCOPES.includes(scope))) {
      throw badOption(`${owner}: scopes`, scopes, `an array of ${SCOPES.join(', ')}`)
    }
    const digest = digestOf(token)
    const key = `token ${digest.toString('base64url').slice(0, 16)}`
    return { digest, caller: { key, scopes: new Set(scopes), refusal: undefined } }
  })
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
