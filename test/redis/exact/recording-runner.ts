import type { Script, ScriptRunner } from '@sluice/limiter-core'

/** A runner that records its calls and delegates them to another runner. */
export class RecordingRunner implements ScriptRunner {
  readonly calls: { readonly script: Script; readonly keys: readonly string[] }[] = []
  readonly #runner: ScriptRunner
  readonly clustered: boolean

  constructor(runner: ScriptRunner) {
    this.#runner = runner
    this.clustered = runner.clustered === true
  }

  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    this.calls.push({ script, keys })
    return this.#runner.run(script, keys, args)
  }

  serverOf(key: string): string {
    return this.#runner.serverOf?.(key) ?? ''
  }
}
