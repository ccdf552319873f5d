import type { ScriptRunner } from '@sluice/limiter-core'

/** A runner whose user can wait until no reply is under way, so that virtual time waits for real replies. */
export class AwaitedRunner implements ScriptRunner {
  readonly #runner: ScriptRunner
  readonly #pending = new Set<Promise<unknown>>()

  constructor(runner: ScriptRunner) {
    this.#runner = runner
  }

  run(...call: Parameters<ScriptRunner['run']>): Promise<unknown> {
    const reply = this.#runner.run(...call)
    this.#pending.add(reply)
    const settle = (): void => void this.#pending.delete(reply)
    reply.then(settle, settle)
    return reply
  }

  async idle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) {
      while (this.#pending.size > 0) await Promise.allSettled(this.#pending)
      // a reply may cause another call
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
