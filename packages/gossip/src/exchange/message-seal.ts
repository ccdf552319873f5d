import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { badOption, type Clock, SluiceError } from '@sluice/limiter-core/backend'
import { MAX_MESSAGE_BYTES } from './gossip-message.ts'

const MAC_BYTES = 32
/** A ticket is valid for one to two times this long. A push follows the answer with its ticket immediately. */
const TICKET_MS = 5_000
/** 128 bits. */
const MIN_SECRET_BYTES = 16

/**
 * Seals the messages of a fleet with HMAC-SHA256 under its secret, placed before the text. Without a secret messages
 * have no seal, which is allowed on a single machine only.
 */
export class MessageSeal {
  readonly #secret: Buffer | undefined
  readonly #clock: Clock
  /** Secret of tickets, which only this process creates and checks. */
  readonly #ownSecret = randomBytes(MAC_BYTES)

  /** Throws `SLUICE_BAD_OPTION` if the secret is not a string of at least 16 bytes. */
  constructor(secret: string | undefined, clock: Clock) {
    if (secret !== undefined && (typeof secret !== 'string' || Buffer.byteLength(secret) < MIN_SECRET_BYTES)) {
      throw badOption('gossip: secret', secret, `a string of at least ${MIN_SECRET_BYTES} bytes`)
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

  /**
   * Returns the text of a message. Throws `SLUICE_BAD_MESSAGE` if the message is too large, and `SLUICE_GOSSIP_FORGED`
   * if it is sealed with another secret.
   */
  opened(message: Uint8Array): string {
    if (message.byteLength > MAX_MESSAGE_BYTES) {
      const expected = `a message of at most ${MAX_MESSAGE_BYTES} bytes`
      throw new SluiceError('SLUICE_BAD_MESSAGE', `gossip: expected ${expected}, received ${message.byteLength} bytes`)
    }
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
    if (!this.#secret) return bytes.toString()
    const body = bytes.subarray(MAC_BYTES)
    const isOurs = bytes.length >= MAC_BYTES && timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(this.#secret, body))
    if (isOurs) return body.toString()
    throw new SluiceError(
      'SLUICE_GOSSIP_FORGED',
      'gossip: expected a message sealed with the secret of this fleet, received one with another seal',
    )
  }

  /** Returns a ticket that allows the receiver to push soon. */
  ticket(): string {
    return this.#ticketOf(this.#slot)
  }

  /** Throws `SLUICE_GOSSIP_FORGED` if the ticket has expired or is not from this process. */
  checkTicket(ticket: string): void {
    const [given, now] = [Buffer.from(ticket), this.#slot]
    const isFresh = [now, now - 1].some((slot) => {
      const known = Buffer.from(this.#ticketOf(slot))
      return known.length === given.length && timingSafeEqual(known, given)
    })
    if (!isFresh) throw new SluiceError('SLUICE_GOSSIP_FORGED', 'gossip: expected a recent ticket, received an old one')
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
