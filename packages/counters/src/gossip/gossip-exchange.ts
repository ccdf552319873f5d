import { randomBytes } from 'node:crypto'
import { type Clock, SluiceError } from '@sluice/limiter-core/backend'
import { type AnswerMessage, decoded, encoded, type GossipMessage, MOST_MESSAGE_BYTES } from './gossip-message.ts'
import type { GossipPeer } from './gossip-peer.ts'
import { LogTransfer } from './log-transfer.ts'
import type { MessageSeal } from './message-seal.ts'
import type { Clocks, ReplicaTable } from './replica-table.ts'

/** Of a message beside its clocks and parts. */
const HEAD_BYTES = 512
/** A clock and the name of its replica. */
const CLOCK_BYTES = 40
/** In one exchange, which ends at its deadline in any case; what is left comes with the next one. */
const MOST_ROUNDS = 4_096

export interface ExchangeListener {
  /** Before anything is told: what is not written yet may be. */
  beforeExchange(): void
  /** Another replica has all logs as far as these clocks. */
  known(replica: string, clocks: Clocks): void
  /** Bytes of a message of this replica, or of the answer to it. */
  carried(bytes: { readonly sent?: number; readonly received?: number }): void
}

/** What replicas say to each other: who asks tells its clocks, hears what it lacks, and sends what the other lacks. */
export class GossipExchange {
  readonly #table: ReplicaTable
  readonly #seal: MessageSeal
  readonly #clock: Clock
  readonly #listener: ExchangeListener

  constructor(table: ReplicaTable, seal: MessageSeal, clock: Clock, listener: ExchangeListener) {
    this.#table = table
    this.#seal = seal
    this.#clock = clock
    this.#listener = listener
  }

  /** Answers the replica that it asked, once both know the same, or a good deal more than before. */
  async ask(peer: GossipPeer, signal: AbortSignal): Promise<string> {
    this.#listener.beforeExchange()
    const transfer = new LogTransfer()
    const pushed = new Map<string, number>()
    let named: Clocks = new Map()
    for (let round = 1; ; round++) {
      const answer = await this.#askOnce(peer, named, transfer.cursors, signal)
      named = answer.clocks
      if (answer.from === this.#table.own.replica) return answer.from
      this.#listener.known(answer.from, answer.clocks)
      const parts = transfer.wholeParts(answer, (replica, clock) => this.#table.wants(replica, clock))
      const isMoved = this.#table.merge(parts, this.#clock.now())
      const isPushed = await this.#push(peer, answer, pushed, signal)
      // what is not wanted may have filled the first answer
      const isCrowded = round === 1 && this.#refused(named).length > 0
      const isLeft = isCrowded || transfer.isCut || (isMoved && this.#table.isBehind(answer.clocks))
      if ((!isPushed && !isLeft) || signal.aborted || round === MOST_ROUNDS) return answer.from
    }
  }

  /** Throws `SLUICE_BAD_MESSAGE` and `SLUICE_GOSSIP_FORGED`. */
  answer(bytes: Uint8Array): Uint8Array {
    const message = decoded(this.#seal.opened(bytes))
    const { nonce } = message
    const from = this.#table.own.replica
    if (message.kind === 'ask') {
      this.#listener.beforeExchange()
      // one that has its own address among its peers asks itself, and is no other one
      if (message.from !== from) this.#listener.known(message.from, message.clocks)
      // of what the other one has and this one forgot, too, or that would be sent again and again
      const clocks = this.#table.clocks(message.clocks)
      const behind = new Map([...message.clocks, ...message.cursors])
      const parts = this.#partsBehind(behind, clocks.size, true)
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

  async #askOnce(
    peer: GossipPeer,
    named: Clocks,
    cut: ReadonlyMap<string, number>,
    signal: AbortSignal,
  ): Promise<AnswerMessage> {
    const nonce = randomBytes(12).toString('base64url')
    // what is not wanted would take the place of what is
    const cursors = new Map([...this.#refused(named), ...cut])
    const clocks = this.#table.clocks(named)
    const ask = { kind: 'ask', from: this.#table.own.replica, nonce, clocks, cursors } as const
    const answer = await this.#send(peer, ask, signal)
    if (answer.kind !== 'answer' || answer.nonce !== nonce) throw unasked()
    return answer
  }

  #refused(named: Clocks): [string, number][] {
    return this.#table.refused(named).map((replica) => [replica, named.get(replica) ?? 0])
  }

  /** False where the other lacks nothing; `pushed` is what it was sent before. */
  async #push(
    peer: GossipPeer,
    { ticket, clocks }: AnswerMessage,
    pushed: Map<string, number>,
    signal: AbortSignal,
  ): Promise<boolean> {
    // a long log is asked for by whoever lacks it
    const parts = this.#partsBehind(new Map([...clocks, ...pushed]), 0, false)
    if (parts.length === 0) return false
    for (const { replica, upTo } of parts) pushed.set(replica, upTo)
    const nonce = randomBytes(12).toString('base64url')
    const done = await this.#send(peer, { kind: 'push', from: this.#table.own.replica, nonce, ticket, parts }, signal)
    if (done.kind !== 'done' || done.nonce !== nonce) throw unasked()
    return true
  }

  async #send(peer: GossipPeer, message: GossipMessage, signal: AbortSignal): Promise<GossipMessage> {
    const bytes = this.#sealed(message)
    this.#listener.carried({ sent: bytes.byteLength })
    const answer = await peer.exchange(bytes, signal)
    this.#listener.carried({ received: answer.byteLength })
    return decoded(this.#seal.opened(answer))
  }

  /** `named`: clocks that are in the message beside them. */
  #partsBehind(clocks: Clocks, named: number, mayCut: boolean): ReturnType<ReplicaTable['partsBehind']> {
    const room = MOST_MESSAGE_BYTES - HEAD_BYTES - CLOCK_BYTES * named
    return this.#table.partsBehind(clocks, { now: this.#clock.now(), maxBytes: room, mayCut })
  }

  #sealed(message: GossipMessage): Uint8Array {
    return this.#seal.sealed(encoded(message))
  }
}

function unasked(): SluiceError {
  return new SluiceError(
    'SLUICE_BAD_MESSAGE',
    'gossip: expected the next one, received a message that nobody asked for',
  )
}
