import type { TestRunner } from '@sluice/testkit'

export interface Outcome {
  readonly passed: number
  /** Title and message of each failed test. */
  readonly failed: readonly string[]
}

/** Collects the tests of a suite, and runs them one after the other, in runtimes without a test runner. */
export class CollectedTests implements TestRunner {
  readonly #titles: string[] = []
  readonly #tests: { readonly title: string; readonly run: () => void | Promise<void> }[] = []

  readonly describe = (name: string, define: () => void): void => {
    this.#titles.push(name)
    define()
    this.#titles.pop()
  }

  readonly test = (name: string, run: () => void | Promise<void>): void => {
    this.#tests.push({ title: [...this.#titles, name].join(' › '), run })
  }

  get titles(): readonly string[] {
    return this.#tests.map(({ title }) => title)
  }

  /** Runs one test. Rejects if it fails. */
  async runOne(title: string): Promise<void> {
    await this.#tests.find((each) => each.title === title)?.run()
  }

  async run(): Promise<Outcome> {
    const failed: string[] = []
    for (const { title, run } of this.#tests) {
      try {
        await run()
      } catch (error) {
        failed.push(`${title}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    return { passed: this.#tests.length - failed.length, failed }
  }
}
