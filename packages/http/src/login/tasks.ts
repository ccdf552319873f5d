import { type Clock, joinedKey } from '@sluice/limiter-core/http'
import { hmacSha256 } from '@sluice/limiter-core/keyed-hash'
import { randomId, type Signer } from './signed-text.ts'

/** A task for the client: find a `nonce` for which HMAC-SHA256(`text`, `nonce`) begins with `bits` zero bits. */
export interface ProofChallenge {
  /** The key of the HMAC: at most 90 characters. The answer is `text`, a dot and the nonce. */
  readonly text: string
  /** Zero bits that are required. A client needs 2^bits hashes on average. */
  readonly bits: number
  /** Time in ms after which an answer is no longer accepted. */
  readonly expiresAfterMs: number
}

/** How far the clocks of servers may differ, in ms. */
export const CLOCK_SKEW_MS = 30_000

/** `<id>.<time of issue in epoch ms, base 36>.<bits>.<signature>.<nonce>` */
const SHAPE = /^(([\w-]{22})\.([0-9a-z]{1,11})\.(\d{1,2})\.([\w-]{43}))\.([\w-]{1,16})$/

/** Issues and verifies tasks without state: everything that is needed is in the signed text of the task. */
export class Tasks {
  readonly #signer: Signer
  readonly #clock: Clock
  readonly #ttlMs: number

  constructor(signer: Signer, clock: Clock, ttlMs: number) {
    this.#signer = signer
    this.#clock = clock
    this.#ttlMs = ttlMs
  }

  /** Returns a task that is valid for `bind` only. */
  issue(bits: number, bind: string): ProofChallenge {
    const [id, issued] = [randomId(), Math.floor(this.#clock.wall()).toString(36)]
    const signature = this.#signer.sign(signedText(id, issued, `${bits}`, bind))
    return { text: `${id}.${issued}.${bits}.${signature}`, bits, expiresAfterMs: this.#ttlMs }
  }

  /**
   * Returns the id of the task that an answer solves; undefined if the answer is wrong, late, or for another `bind`. The
   * caller must accept each id once. Costs one HMAC, and a second one if the signature is valid.
   */
  idOf(answer: unknown, bind: string): string | undefined {
    const parts = typeof answer === 'string' ? SHAPE.exec(answer) : null
    if (!parts) return undefined
    const [, text, id, issued, bits, signature, nonce] = parts
    const ageMs = this.#clock.wall() - Number.parseInt(issued, 36)
    // a task from the future was issued before the clock was set back, when its id may have been used
    if (!(ageMs >= -CLOCK_SKEW_MS && ageMs <= this.#ttlMs)) return undefined
    if (!this.#signer.isSigned(signedText(id, issued, bits, bind), signature)) return undefined
    return zeroBits(hmacSha256(text, nonce)) >= Number(bits) ? id : undefined
  }
}

function signedText(id: string, issued: string, bits: string, bind: string): string {
  return joinedKey('proof', id, issued, bits, bind)
}

/** Returns the number of zero bits at the start. */
function zeroBits(bytes: Uint8Array): number {
  const index = bytes.findIndex((byte) => byte !== 0)
  return index < 0 ? bytes.length * 8 : index * 8 + Math.clz32(bytes[index]) - 24
}
