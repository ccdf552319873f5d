import { type Clock, joinedKey } from '@sluice/limiter-core/http'
import { randomId, type Signer } from './signed-text.ts'

/** `1.<id>.<end in epoch seconds, base 36>.<signature>` */
const SHAPE = /^1\.([\w-]{22})\.([0-9a-z]{1,9})\.([\w-]{43})$/

/** Writes and reads the values of cookies that prove an earlier login to one account. They do not contain its name. */
export class DeviceCookies {
  readonly #signer: Signer
  readonly #clock: Clock
  readonly #ttlMs: number
  /** What the signatures are for, so that a cookie of one form of the application is not valid in another. */
  readonly #name: string

  constructor(signer: Signer, clock: Clock, ttlMs: number, name: string) {
    this.#signer = signer
    this.#clock = clock
    this.#ttlMs = ttlMs
    this.#name = name
  }

  /** Returns a new cookie for a version of an account: 79 characters at most, all of them valid in cookies. */
  issue(account: string, version: string | undefined): string {
    const id = randomId()
    const end = Math.ceil((this.#clock.wall() + this.#ttlMs) / 1_000).toString(36)
    return `1.${id}.${end}.${this.#signer.sign(this.#signed(id, end, account, version))}`
  }

  /** Returns the id of a cookie; undefined if it is forged, for another account or version, or has expired. */
  idOf(cookie: unknown, account: string, version: string | undefined): string | undefined {
    const [, id, end, signature] = (typeof cookie === 'string' && SHAPE.exec(cookie)) || []
    if (id === undefined || Number.parseInt(end, 36) * 1_000 <= this.#clock.wall()) return undefined
    return this.#signer.isSigned(this.#signed(id, end, account, version), signature) ? id : undefined
  }

  #signed(id: string, end: string, account: string, version: string | undefined): string {
    const parts = version === undefined ? [account] : [account, version]
    return joinedKey('device', this.#name, id, end, ...parts)
  }
}
