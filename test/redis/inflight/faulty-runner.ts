import type { Interruption, Script, ScriptRunner } from '@sluice/limiter-core'
import { RedisFailure } from '@sluice/redis'

/** How a call ends. */
export type Fate = 'well' | 'refused' | 'cut' | 'request lost' | 'reply lost'

/** A runner to a real server that loses calls on request. */
export class FaultyRunner implements ScriptRunner {
  /** Calls that the server has not answered yet. */
  underWay = 0
  readonly #runner: ScriptRunner
  readonly #fate: () => Fate
  readonly #listeners = new Set<(event: Interruption) => void>()

  constructor(runner: ScriptRunner, fate: () => Fate) {
    this.#runner = runner
    this.#fate = fate
  }

  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const fate = this.#fate()
    if (fate === 'refused') throw new RedisFailure('CONNECTION', 'refused')
    if (fate === 'request lost') return new Promise(() => {})
    const reply = await this.#answered(script, keys, args)
    if (fate === 'cut') throw new RedisFailure('CONNECTION', 'cut')
    return fate === 'reply lost' ? new Promise(() => {}) : reply
  }

  async #answered(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    this.underWay++
    try {
      return await this.#runner.run(script, keys, args)
    } finally {
      this.underWay--
    }
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(event: Interruption): void {
    for (const listener of this.#listeners) listener(event)
  }
}
