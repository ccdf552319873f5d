import { resetWarnings } from '@sluice/limiter-core/backend'

/** Captures warnings of the suite instead of printing them. */
export class Warnings {
  readonly #warnings: { readonly code: string; readonly text: string }[] = []
  readonly #emitWarning = process.emitWarning

  /** Starts to listen, with no warning given yet. */
  listen(): void {
    resetWarnings()
    this.#warnings.length = 0
    process.emitWarning = (warning: string | Error, options?: unknown) => {
      const { code = '' } = (typeof options === 'object' ? options : {}) as { code?: string }
      this.#warnings.push({ code, text: String(warning) })
    }
  }

  stop(): void {
    process.emitWarning = this.#emitWarning
  }

  /** Codes in order of arrival. */
  get codes(): string[] {
    return this.#warnings.map(({ code }) => code)
  }

  get texts(): string[] {
    return this.#warnings.map(({ text }) => text)
  }
}
