import { forgetWarnings } from '@sluice/limiter-core/backend'

/** Hears the suite's warnings instead of the terminal, each as often as it came. */
export class Warnings {
  readonly #warnings: { readonly code: string; readonly text: string }[] = []
  readonly #emitWarning = process.emitWarning

  /** Starts to listen, with no warning given yet. */
  listen(): void {
    forgetWarnings()
    this.#warnings.length = 0
    process.emitWarning = (warning: string | Error, options?: unknown) => {
      const { code = '' } = (typeof options === 'object' ? options : {}) as { code?: string }
      this.#warnings.push({ code, text: String(warning) })
    }
  }

  stop(): void {
    process.emitWarning = this.#emitWarning
  }

  /** Codes in the order in which they came. */
  get codes(): string[] {
    return this.#warnings.map(({ code }) => code)
  }

  get texts(): string[] {
    return this.#warnings.map(({ text }) => text)
  }
}
