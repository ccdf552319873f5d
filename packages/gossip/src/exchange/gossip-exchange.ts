import { randomBytes } from 'node:crypto'
import { type Clock, SluiceError } from '@sluice/limiter-core/backend'
import type { Clocks, LogPart, ReplicaTable } from '../log/replica-table.ts'
import { type AnswerMessage, decoded, encoded, type GossipMessage, MAX_MESSAGE_BYTES } from './gossip-message.ts'
import type { GossipPeer } from './gossip-peer.ts'
import { LogTransfer } from './log-transfer.ts'
import type { MessageSeal } from './message-seal.ts'

/** Bytes of a message besides its clocks and parts. */
const HEAD_BYTES = 512
/** Bytes of a clock with the name of its replica. */
const CLOCK_BYTES = 40
/** Maximum number of rounds of one exchange. Its timeout limits it as well; the next exchange transfers the rest. */
const MAX_ROUNDS = 4_096

export interface ExchangeListener {
  /** Called before clocks are sent, so that pending changes can be written first. */
  beforeExchange(): void
  /** Called when another replica reports up to which clocks it has the logs. */
  clocksReported(replica: string, clocks: Clocks): void
  /** Called with the bytes of each message that this replica sends and of each reply that it receives. */
  transferred(bytes: { readonly sent?: number; readonly received?: number }): void
}

/**
 * Exchanges items with other replicas: the asking replica sends its clocks, receives the items that it lacks, and
 * pushes the items that the other one lacks.
 */
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

  /**
   * Exchanges items with a peer and returns the name of the replica that replied. Both have the same items afterwards,
   * unless `signal` aborts or `MAX_ROUNDS` is reached first.
   */
  async exchangeWith(peer: GossipPeer, signal: AbortSignal): Promise<string> {
    this.#listener.beforeExchange()
    const transfer = new LogTransfer()
    const pushed = new Map<string, number>()
    let named: Clocks = new Map()
    for (let round = 1; ; round++) {
      const answer = await this.#askOnce(peer, named, transfer.cursors, signal)
      named = answer.clocks
      if (answer.from === this.#table.own.replica) return answer.from
      this.#listener.clocksReported(answer.from, answer.clocks)
      const parts = transfer.wholeParts(answer, (replica, clock) => this.#table.accepts(replica, clock))
      const isMoved = this.#table.merge(parts, this.#clock.now())
      const isPushed = await this.#push(peer, answer, pushed, signal)
      // unwanted logs may have filled the first answer
      const isCrowded = round === 1 && this.#refused(named).length > 0
      const isLeft = isCrowded || transfer.isCut || (isMoved && this.#table.isBehind(answer.clocks))
      if ((!isPushed && !isLeft) || signal.aborted || round === MAX_ROUNDS) return answer.from
    }
  }

  /**
   * Processes a message of another replica and returns the reply. Throws `SLUICE_BAD_MESSAGE` and
   * `SLUICE_GOSSIP_FORGED`.
   */
  answer(bytes: Uint8Array): Uint8Array {
    const message = decoded(this.#seal.opened(bytes))
    const { nonce } = message
    const from = this.#table.own.replica
    if (message.kind === 'ask') {
      this.#listener.beforeExchange()
      // a replica whose peers include its own address also asks itself
      if (message.from !== from) this.#listener.clocksReported(message.from, message.clocks)
      // includes empty logs that the other one named, because it would send their items in every exchange otherwise
      const clocks = this.#table.clocks(message.clocks)
      const behind = new Map([...message.clocks, ...message.cursors])
      const parts = this.#partsBehind(behind, message.from, clocks.size)
      return this.#sealed({
        kind: 'answer',
        from,
        nonce,
        ticket: this.#seal.ticket(),
        clocks,
        parts,
      })
    }
    if (message.kind !== 'push') throw unexpectedMessage()
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
    // without cursors, unwanted logs would take the place of wanted ones
    const cursors = new Map([...this.#refused(named), ...cut])
    const clocks = this.#table.clocks(named)
    const ask = { kind: 'ask', from: this.#table.own.replica, nonce, clocks, cursors } as const
    const answer = await this.#send(peer, ask, signal)
    if (answer.kind !== 'answer' || answer.nonce !== nonce) throw unexpectedMessage()
    return answer
  }

  #refused(named: Clocks): [string, number][] {
    return this.#table.unwanted(named).map((replica) => [replica, named.get(replica) ?? 0])
  }

  /** Sends what the peer lacks, and returns false if it lacks nothing. `pushed`: what was sent to it before. */
  async #push(
    peer: GossipPeer,
    { from, ticket, clocks }: AnswerMessage,
    pushed: Map<string, number>,
    signal: AbortSignal,
  ): Promise<boolean> {
    // a log that is too long for one message is not pushed: the peer asks for it in parts
    const parts = this.#partsBehind(new Map([...clocks, ...pushed]), from)
    if (parts.length === 0) return false
    for (const { replica, upTo } of parts) pushed.set(replica, upTo)
    const nonce = randomBytes(12).toString('base64url')
    const done = await this.#send(peer, { kind: 'push', from: this.#table.own.replica, nonce, ticket, parts }, signal)
    if (done.kind !== 'done' || done.nonce !== nonce) throw unexpectedMessage()
    return true
  }

  /** Rejects after `signal` has aborted, because the transport of a peer may ignore it. */
  async #send(peer: GossipPeer, message: GossipMessage, signal: AbortSignal): Promise<GossipMessage> {
    signal.throwIfAborted()
    const bytes = this.#sealed(message)
    this.#listener.transferred({ sent: bytes.byteLength })
    const answer = await peer.exchange(bytes, signal)
    signal.throwIfAborted()
    this.#listener.transferred({ received: answer.byteLength })
    return decoded(this.#seal.opened(answer))
  }

  /**
   * Returns what the replica `to` lacks. `named`: number of clocks in the same message; undefined if logs may not be cut.
   */
  #partsBehind(clocks: Clocks, to: string, named?: number): LogPart[] {
    const maxBytes = MAX_MESSAGE_BYTES - HEAD_BYTES - CLOCK_BYTES * (named ?? 0)
    return this.#table.partsBehind(clocks, { to, now: this.#clock.now(), maxBytes, mayCut: named !== undefined })
  }

  #sealed(message: GossipMessage): Uint8Array {
    return this.#seal.sealed(encoded(message))
  }
}

function unexpectedMessage(): SluiceError {
  return new SluiceError(
    'SLUICE_BAD_MESSAGE',
    'gossip: expected an ask, a push or the reply to the last request, received another message',
  )
}
