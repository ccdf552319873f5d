import { randomBytes } from 'node:crypto'
import { type Clock, SluiceError } from '@sluice/limiter-core/backend'
import type { Clocks, LogPart, ReplicaTable } from '../log/replica-table.ts'
import {
  type AnswerMessage,
  clocksBytes,
  clocksWithin,
  decoded,
  encoded,
  type GossipMessage,
  MAX_MESSAGE_BYTES,
} from './gossip-message.ts'
import type { GossipPeer } from './gossip-peer.ts'
import { LogTransfer } from './log-transfer.ts'
import type { MessageSeal } from './message-seal.ts'
import { UnwantedLogs } from './unwanted-logs.ts'

/** Bytes of a message besides its clocks and parts. */
const HEAD_BYTES = 1_024
/** Size that a message exceeds only if its clocks need more room: replicas of earlier releases reject larger messages. */
const USUAL_BYTES = 65_536
/** Bytes that a message has for parts, however many clocks it contains. The largest item fits. */
const LEAST_BYTES = 34_000
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
  readonly #unwanted = new UnwantedLogs()

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
      const { answer, cursors } = await this.#askOnce(peer, named, transfer.cursors, signal)
      named = answer.clocks
      if (answer.from === this.#table.own.replica) return answer.from
      this.#listener.clocksReported(answer.from, answer.clocks)
      const parts = transfer.wholeParts(answer, (replica, clock) => this.#table.takes(replica, clock))
      const isMoved = this.#table.merge(parts, this.#clock.now())
      const isPushed = await this.#push(peer, answer, pushed, signal)
      const unwanted = this.#table.unwanted(named)
      this.#unwanted.add(unwanted, this.#clock.now())
      // unwanted logs may have filled the first answer
      const isCrowded = round === 1 && unwanted.some(([replica, clock]) => clock > (cursors.get(replica) ?? 0))
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
      const room = MAX_MESSAGE_BYTES - HEAD_BYTES - LEAST_BYTES - clocksBytes(clocks)
      const unwanted = clocksWithin(this.#table.unwanted(message.clocks), room)
      const behind = new Map([...message.clocks, ...message.cursors])
      const used = clocksBytes(clocks) + clocksBytes(unwanted)
      const parts = this.#partsBehind(behind, { to: message.from, used, mayCut: true })
      return this.#sealed({
        kind: 'answer',
        from,
        nonce,
        ticket: this.#seal.ticket(),
        clocks,
        unwanted,
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
  ): Promise<{ readonly answer: AnswerMessage; readonly cursors: Clocks }> {
    const nonce = randomBytes(12).toString('base64url')
    const clocks = this.#table.clocks(named)
    // without cursors, unwanted logs would take the place of wanted ones
    const unwanted = this.#table.unwanted(this.#unwanted.clocks(this.#clock.now()))
    const room = MAX_MESSAGE_BYTES - HEAD_BYTES - clocksBytes(clocks)
    const cursors = clocksWithin(new Map([...cut, ...unwanted, ...cut]), room)
    const ask = { kind: 'ask', from: this.#table.own.replica, nonce, clocks, cursors } as const
    const answer = await this.#send(peer, ask, signal)
    if (answer.kind !== 'answer' || answer.nonce !== nonce) throw unexpectedMessage()
    return { answer, cursors }
  }

  /** Sends what the peer lacks, and returns false if it lacks nothing. `pushed`: what was sent to it before. */
  async #push(
    peer: GossipPeer,
    { from, ticket, clocks, unwanted }: AnswerMessage,
    pushed: Map<string, number>,
    signal: AbortSignal,
  ): Promise<boolean> {
    // a log that is too long for one message is not pushed: the peer asks for it in parts
    const behind = new Map([...clocks, ...unwanted, ...pushed])
    const parts = this.#partsBehind(behind, { to: from, used: 0, mayCut: false })
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

  /** Returns what the replica `to` lacks. `used`: bytes of the clocks in the same message. */
  #partsBehind(
    clocks: Clocks,
    { to, used, mayCut }: { readonly to: string; readonly used: number; readonly mayCut: boolean },
  ): LogPart[] {
    const maxBytes = Math.max(USUAL_BYTES - HEAD_BYTES - used, LEAST_BYTES)
    return this.#table.partsBehind(clocks, { to, now: this.#clock.now(), maxBytes, mayCut })
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
