import type { Clock, RecordStore } from '@sluice/limiter-core'

/** Records in memory, which are lost when the process ends. It is the reference implementation for other stores. */
export class MemoryRecordStore implements RecordStore {
  readonly #clock: Clock
  readonly #records = new Map<string, { readonly text: string; readonly endsAt: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async put(id: string, text: string, endsAt: number): Promise<void> {
    this.#removeEnded()
    this.#records.set(id, { text, endsAt })
  }

  async all(): Promise<readonly string[]> {
    this.#removeEnded()
    return Array.from(this.#records.values(), ({ text }) => text)
  }

  #removeEnded(): void {
    const now = this.#clock.wall()
    for (const [id, { endsAt }] of this.#records) if (endsAt <= now) this.#records.delete(id)
  }
}
