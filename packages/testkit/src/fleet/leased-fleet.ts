import { type LeaseGrant, type LeaseRequest, type LeaseTerms, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { type Answer, type Charge, memoryBackend, type PolicyVerdict } from '@sluice/limiter-core'
import { afterThisTurn, SoleDecision } from '@sluice/limiter-core/backend'
import { FakeClock } from '../fake-clock.ts'
import type { SeededRandom } from '../seeded-random.ts'

const GIVES_UP_AFTER_MS = 100

/** Faults of messages between processes and their lease ledger. */
export interface LeaseNetwork {
  /** One in this many messages is lost; 0: none. */
  readonly lostOneIn: number
  /** One in this many messages takes seconds. */
  readonly lateOneIn: number
}

/** A process of a leasing fleet. It can be stopped, resumed and killed. */
export class LeasedProcess {
  readonly backend: LeasingBackend
  state: 'runs' | 'stopped' | 'gone' = 'runs'
  readonly #held: (() => void)[] = []

  constructor(fleet: LeasedFleet) {
    const { clock } = fleet
    const ledger = { request: (asks: readonly LeaseRequest[]) => fleet.carry(this, asks) }
    const exact = fleet.ledger
    // clocks run apart, by less than the ledger allows for
    const rate = fleet.nextRate()
    const after = (ms: number, run: () => void): (() => void) => clock.after(ms / rate, () => this.run(run))
    const own = { now: () => clock.now() * rate, wall: () => clock.wall(), after }
    const takeUnleased = (charge: Charge): Promise<SoleDecision> =>
      fleet.deliver(this, () => flat(exact.takeAll([charge])))
    this.backend = new LeasingBackend({ name: 'leased', exact, ledger, takeUnleased, terms: fleet.terms, clock: own })
  }

  /** Runs now, when it wakes up, or never. */
  run(run: () => void): void {
    if (this.state === 'runs') run()
    else if (this.state === 'stopped') this.#held.push(run)
  }

  stop(): void {
    if (this.state === 'runs') this.state = 'stopped'
  }

  wake(): void {
    if (this.state === 'stopped') this.state = 'runs'
    for (const run of this.#held.splice(0)) run()
  }

  kill(): void {
    this.state = 'gone'
  }
}

/** Processes that lease from one ledger over a network that delays, loses and reorders. One clock moves all. */
export class LeasedFleet {
  readonly clock: FakeClock = new FakeClock({ nowMs: 1_000 })
  readonly ledger: MemoryLedger
  readonly terms: LeaseTerms
  readonly processes: LeasedProcess[] = []
  asks = 0
  /** Changes requests in transit; the default passes them unchanged. */
  tamper: (ask: LeaseRequest) => LeaseRequest = (ask) => ask
  readonly #random: SeededRandom
  readonly #network: LeaseNetwork

  constructor(random: SeededRandom, terms: LeaseTerms, network: LeaseNetwork) {
    this.#random = random
    this.#network = network
    this.terms = terms
    this.ledger = new MemoryLedger('ledger', memoryBackend({ clock: this.clock }), terms, () => this.clock.now())
  }

  start(): LeasedProcess {
    const process = new LeasedProcess(this)
    this.processes.push(process)
    return process
  }

  /** Clock rate of the next process. */
  nextRate(): number {
    return this.#random.pick([0.96, 1, 1.04])
  }

  /** Delivers requests to the ledger and returns its replies. */
  carry(from: LeasedProcess, asks: readonly LeaseRequest[]): Promise<readonly LeaseGrant[]> {
    this.asks += asks.length
    return this.deliver(from, () => this.ledger.request(asks.map(this.tamper)))
  }

  /**
   * Delivers a message to the ledger and its reply back. The process gives up after 100 ms; the message may still
   * arrive.
   */
  deliver<T>(from: LeasedProcess, ask: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error('late'))
      this.clock.after(GIVES_UP_AFTER_MS, () => from.run(late))
      if (this.#isLost()) return
      this.clock.after(this.#delayMs(), () => {
        const answer = ask()
        if (!this.#isLost()) this.clock.after(this.#delayMs(), () => from.run(() => resolve(answer)))
      })
    })
  }

  /** Lets time pass, and everything that it brings happen. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.now() + ms
    while (this.clock.now() < untilMs) {
      this.clock.advance(Math.min(5, untilMs - this.clock.now()))
      // twice: a settled promise may create another one
      for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => afterThisTurn(resolve))
    }
  }

  #isLost(): boolean {
    return this.#network.lostOneIn > 0 && this.#random.whole(this.#network.lostOneIn) === 0
  }

  #delayMs(): number {
    const late = this.#network.lateOneIn > 0 && this.#random.whole(this.#network.lateOneIn) === 0
    return late ? this.#random.whole(4_000) : this.#random.whole(8)
  }
}

function flat({ takenAt, verdicts: [verdict] }: Answer): SoleDecision {
  const { policy, remaining, retryAfterMs, resetAfterMs } = verdict as PolicyVerdict
  return new SoleDecision('leased', policy, remaining, retryAfterMs, resetAfterMs, takenAt)
}
