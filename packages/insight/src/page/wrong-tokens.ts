import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, clientKey, createLimiter, type Decision, type Limiter } from '@sluice/limiter-core'
import type { Problem } from './page-response.ts'

const POLICY = { name: 'wrong-tokens', limit: 10, window: '1m' } as const

const TOO_MANY: Problem = { status: 429, title: 'Too Many Requests', detail: 'Too many wrong tokens. Wait a minute.' }

/** A token that a client presents. It counts as wrong until `right` is called. */
export interface TokenAttempt {
  /** Why the token must not be checked: the client has presented too many wrong tokens. */
  readonly refusal: Problem | undefined
  readonly right: () => void
}

/** Limits the wrong tokens of each client to ten per minute, in login forms and in headers together. */
export class WrongTokens {
  readonly #limiter: Limiter<Decision>

  constructor(clock: Clock) {
    this.#limiter = createLimiter({ policies: [POLICY], clock })
  }

  /**
   * Must be called before the token is checked, so that guesses at the same time are counted too. If it refuses, it
   * sets `Retry-After`.
   */
  attempt(req: IncomingMessage, res: ServerResponse): TokenAttempt {
    const peer = clientKey(req.socket.remoteAddress)
    const decision = this.#limiter.take(peer)
    if (!decision.allowed) res.setHeader('Retry-After', Math.ceil(decision.retryAfterMs / 1_000))
    return {
      refusal: decision.allowed ? undefined : TOO_MANY,
      right: () => void this.#limiter.charge(peer, -1, decision),
    }
  }
}
