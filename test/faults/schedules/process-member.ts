import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import type { Participant } from './fleet.ts'
import type { MemberOptions, TakeReport } from './member.ts'
import type { ServerSide } from './observed-backend.ts'
import type { PolicyName } from './schedule.ts'

/** Faults of a process. */
export const PROCESS_FAULTS: readonly string[] = ['process killed', 'process stopped']

type Program = typeof import('./children/schedule-member.ts')

/** A member in its own process, which can be paused and killed. */
export class ProcessMember implements Participant {
  readonly #node: ChildNode<Program> = startNode<Program>('faults/schedules/children/schedule-member.ts')
  readonly #opened: Promise<void>
  #isClosed = false

  constructor(options: MemberOptions) {
    this.#opened = this.#node.call('open', options)
  }

  async take(policy: PolicyName, key: string, cost: number): Promise<TakeReport> {
    await this.#opened
    return this.#node.call('take', policy, key, cost)
  }

  async refund(id: number, units: number): Promise<boolean> {
    return this.#node.call('refund', id, units)
  }

  async reset(policy: PolicyName, key: string): Promise<boolean> {
    return this.#node.call('reset', policy, key)
  }

  async peek(policy: PolicyName, key: string): Promise<void> {
    return this.#node.call('peek', policy, key)
  }

  async tell(policy: PolicyName, key: string): Promise<boolean> {
    await this.#opened
    return this.#node.call('tell', policy, key)
  }

  async serverSide(id: number): Promise<ServerSide> {
    return this.#node.call('serverSide', id)
  }

  pause(): void {
    this.#node.pause()
  }

  resume(): void {
    this.#node.resume()
  }

  kill(): Promise<void> {
    return this.#node.stop()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      await this.#node.call('close')
    } finally {
      await this.#node.stop()
    }
  }
}
