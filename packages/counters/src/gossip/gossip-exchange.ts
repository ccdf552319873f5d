import { randomBytes } from 'node:crypto'
import { type Clock, SluiceError } from '@sluice/limiter-core/backend'
import { type AnswerMessage, decoded, encoded, type GossipMessage, MOST_MESSAGE_BYTES } from './gossip-message.ts'
import type { GossipPeer } from './gossip-peer.ts'
import type { MessageSeal } from './message-seal.ts'
import type { Clocks, ReplicaTable } from './replica-table.ts'

/** Of a message beside its clocks and parts. */
const HEAD_BYTES = 512
/** A clock and the name of its replica. */
const CLOCK_BYTES = 40
/** In one exchange; what is left comes with the next one. */
const MOST_ROUNDS = 16

/** What replicas say to each other: who asks tells its clocks, hears what it lacks, and sends what the other lacks. */
export class GossipExchange {
  readonly #table: ReplicaTable
  readonly #seal: MessageSeal
  readonly #clock: Clock

  constructor(table: ReplicaTable, seal: MessageSeal, clock: Clock) {
    this.#table = table
    this.#seal = seal
    this.#clock = clock
  }

  /** Answers the replica that it asked, once both know the same, or a good deal more than before. */
  async ask(peer: GossipPeer, signal: AbortSignal): Promise<string> {
    let named: Clocks = new Map()
    for (let round = 1; ; round++) {
      const answer = await this.#askOnce(peer, named, signal)
      named = answer.clocks
      if (answer.from === this.#table.own.replica) return answer.from
      this.#table.merge(answer.parts, this.#clock.now())
      const isPushed = await this.#push(peer, answer, signal)
      if ((!isPushed && !this.#table.isBehind(answer.clocks)) || round === MOST_ROUNDS) return answer.from
    }
  }

  /** Throws `SLUICE_BAD_MESSAGE` and `SLUICE_GOSSIP_FORGED`. */
  answer(bytes: Uint8Array): Uint8Array {
    const message = decoded(this.#seal.opened(bytes))
    const { nonce } = message
    const from = this.#table.own.replica
    if (message.kind === 'ask') {
      // of what the other one has and this one forgot, too, or that would be sent again and again
      const clocks = this.#table.clocks(message.clocks)
      const parts = this.#partsBehind(message.clocks, clocks.size)
      return this.#sealed({
        kind: 'answer',
        from,
        nonce,
        ticket: this.#seal.ticket(),
        clocks,
        parts,
      })
    }
    if (message.kind !== 'push') throw unasked()
    this.#seal.checkTicket(message.ticket)
    this.#table.merge(message.parts, this.#clock.now())
    return this.#sealed({ kind: 'done', from, nonce })
  }

  async #askOnce(peer: GossipPeer, named: Clocks, signal: AbortSignal): Promise<AnswerMessage> {
    const nonce = randomBytes(12).toString('base64url')
    const ask = { kind: 'ask', from: this.#table.own.replica, nonce, clocks: this.#table.clocks(named) } as const
    const answer = await this.#send(peer, ask, signal)
    if (answer.kind !== 'answer' || answer.nonce !== nonce) throw unasked()
    return answer
  }

  /** False where the other lacks nothing. */
  async #push(peer: GossipPeer, { ticket, clocks }: AnswerMessage, signal: AbortSignal): Promise<boolean> {
    const parts = this.#partsBehind(clocks, 0)
    if (parts.length === 0) return false
    const nonce = randomBytes(12).toString('base64url')
    const done = await this.#send(peer, { kind: 'push', from: this.#table.own.replica, nonce, ticket, parts }, signal)
    if (done.kind !== 'done' || done.nonce !== nonce) throw unasked()
    return true
  }

  async #send(peer: GossipPeer, message: GossipMessage, signal: AbortSignal): Promise<GossipMessage> {
    return decoded(this.#seal.opened(await peer.exchange(this.#sealed(message), signal)))
  }

  /** `named`: clocks that are in the message beside them. */
  #partsBehind(clocks: Clocks, named: number): ReturnType<ReplicaTable['partsBehind']> {
    const room = MOST_MESSAGE_BYTES - HEAD_BYTES - CLOCK_BYTES * named
    return this.#table.partsBehind(clocks, { now: this.#clock.now(), maxBytes: room })
  }

  #sealed(message: GossipMessage): Uint8Array {
    return this.#seal.sealed(encoded(message))
  }
}

function unasked(): SluiceError {
  return new SluiceError('SLUICE_BAD_MESSAGE', 'gossip: got a message that nobody asked for, expected the next one')
}
