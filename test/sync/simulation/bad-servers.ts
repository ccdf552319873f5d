import { PARTITIONS } from '@sluice/fleet/backend'
import { MemorySyncLedger, type SyncAnswer, type SyncBatch, type SyncLedger } from '@sluice/fleet/sync'
import { type FakeClock, type NodeClock, type SeededRandom, sentAnswer, sentBatch } from '@sluice/testkit'

const MAX_DELAY_MS = 20

/** State of a server. A `deaf` server counts, but its answers are lost. */
export const BAD_STATES = ['silent', 'refuses', 'throws', 'deaf'] as const

export type ServerState = 'well' | (typeof BAD_STATES)[number]

/** Servers that share the partitions of one ledger. One answer in twenty is lost. */
export class BadServers {
  /** Indexed by server. */
  readonly states: ServerState[]
  /** Server of each partition, indexed by partition. */
  readonly servers: number[]
  readonly ledger: MemorySyncLedger
  readonly #clock: FakeClock
  readonly #random: SeededRandom

  constructor(count: number, clock: FakeClock, random: SeededRandom) {
    this.states = new Array<ServerState>(count).fill('well')
    this.servers = Array.from({ length: PARTITIONS }, (_, partition) => partition % count)
    this.ledger = new MemorySyncLedger(clock)
    this.#clock = clock
    this.#random = random
  }

  /** Moves one partition, or all partitions of one server, to another server. */
  move(): void {
    const random = this.#random
    const to = random.whole(this.states.length)
    const from = random.whole(this.states.length)
    if (random.whole(2) === 0) this.servers[random.whole(PARTITIONS)] = to
    else for (const [at, server] of this.servers.entries()) if (server === from) this.servers[at] = to
  }

  stateOf(partition: number): ServerState {
    return this.states[this.servers[partition]]
  }

  /** Returns the ledger as seen by a process with the given clock. `sent` is called for each message. */
  join(clock: NodeClock, sent: () => void): SyncLedger {
    const joined = this.ledger.join()
    const serverOf = (partition: number): string => `server ${this.servers[partition]}`
    const nodes = async (): Promise<number> => {
      sent()
      return 3
    }
    const exchange = (batch: SyncBatch, deadlineAt: number): Promise<SyncAnswer> => {
      sent()
      if (this.stateOf(batch.partition) === 'throws') throw new Error('thrown')
      return this.#carry(joined, batch, deadlineAt, clock)
    }
    return { ...joined, serverOf, nodes, exchange }
  }

  #carry(joined: SyncLedger, batch: SyncBatch, deadlineAt: number, clock: NodeClock): Promise<SyncAnswer> {
    const { partition } = batch
    const aheadMs = clock.now() - this.#clock.now()
    const late = (): Promise<void> => this.#after(this.#random.whole(MAX_DELAY_MS))
    return new Promise((resolve, reject) => {
      if (this.stateOf(partition) === 'refuses') return reject(new Error('refused'))
      const cancel = this.#clock.after(deadlineAt - clock.now(), () => clock.deliver(() => reject(new Error('late'))))
      const carry = async (): Promise<void> => {
        const isLost = this.stateOf(partition) === 'deaf' || this.#random.whole(20) === 0
        const message = sentBatch(batch, -aheadMs)
        await late()
        if (this.stateOf(partition) === 'silent') return
        const answer = await joined.exchange(message, deadlineAt)
        await late()
        if (isLost) return
        clock.deliver(() => {
          cancel()
          resolve(sentAnswer(message, answer, aheadMs))
        })
      }
      void carry()
    })
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve))
  }
}
