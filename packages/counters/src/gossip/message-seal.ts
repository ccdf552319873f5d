import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { badOption, type Clock, SluiceError } from '@sluice/limiter-core/backend'
import { MOST_MESSAGE_BYTES } from './gossip-message.ts'

const MAC_BYTES = 32
/** A push comes right after the answer that its ticket is from. */
const TICKET_MS = 5_000
/** 128 bits. */
const LEAST_SECRET_BYTES = 16

/**
 * What messages of a fleet are sealed with: HMAC-SHA256 under its secret, before the text. Without a secret nothing
 * stands there, which is for one machine alone.
 */
export class MessageSeal {
  readonly #secret: Buffer | undefined
  readonly #clock: Clock
  /** Of tickets: this process alone makes and reads them. */
  readonly #ownSecret = randomBytes(MAC_BYTES)

  /** Throws `SLUICE_BAD_OPTION` for a secret that is no text or has fewer than 16 bytes. */
  constructor(secret: string | undefined, clock: Clock) {
    if (secret !== undefined && (typeof secret !== 'string' || Buffer.byteLength(secret) < LEAST_SECRET_BYTES)) {
      throw badOption('gossip: secret', secret, `a text of ${LEAST_SECRET_BYTES} bytes or more`)
    }
    this.#secret = secret === undefined ? undefined : Buffer.from(secret)
    this.#clock = clock
  }

  get hasSecret(): boolean {
    return this.#secret !== undefined
  }

  sealed(text: string): Buffer {
    const body = Buffer.from(text)
    return this.#secret ? Buffer.concat([macOf(this.#secret, body), body]) : body
  }

  /** The text of a message. Throws `SLUICE_BAD_MESSAGE` for one that is too large, and `SLUICE_GOSSIP_FORGED` for one of another secret. */
  opened(message: Uint8Array): string {
    if (message.byteLength > MOST_MESSAGE_BYTES) {
      const got = `got ${message.byteLength} bytes, expected at most ${MOST_MESSAGE_BYTES}`
      throw new SluiceError('SLUICE_BAD_MESSAGE', `gossip: ${got}`)
    }
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
    if (!this.#secret) return bytes.toString()
    const body = bytes.subarray(MAC_BYTES)
    const isOurs = bytes.length >= MAC_BYTES && timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(this.#secret, body))
    if (isOurs) return body.toString()
    throw new SluiceError(
      'SLUICE_GOSSIP_FORGED',
      'gossip: expected that of this fleet, received a message of another secret',
    )
  }

  /** For whoever is to push soon. */
  ticket(): string {
    return this.#ticketOf(this.#slot)
  }

  /** Throws `SLUICE_GOSSIP_FORGED` for one that is old, or none of this process. */
  checkTicket(ticket: string): void {
    const [given, now] = [Buffer.from(ticket), this.#slot]
    const isFresh = [now, now - 1].some((slot) => {
      const known = Buffer.from(this.#ticketOf(slot))
      return known.length === given.length && timingSafeEqual(known, given)
    })
    if (!isFresh) throw new SluiceError('SLUICE_GOSSIP_FORGED', 'gossip: expected a new one, received an old message')
  }

  get #slot(): number {
    return Math.floor(this.#clock.now() / TICKET_MS)
  }

  #ticketOf(slot: number): string {
    return macOf(this.#ownSecret, Buffer.from(String(slot))).toString('base64url')
  }
}

function macOf(secret: Buffer, body: Buffer): Buffer {
  return createHmac('sha256', secret).update(body).digest()
}
