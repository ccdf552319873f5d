import type { TestRunner } from '@sluice/testkit'

/** The tests of contracts by their titles, to run one at a time. */
export class CollectedTests implements TestRunner {
  readonly #tests = new Map<string, () => void | Promise<void>>()
  #titles: readonly string[] = []

  readonly describe = (title: string, define: () => void): void => {
    const outer = this.#titles
    this.#titles = [...outer, title]
    define()
    this.#titles = outer
  }

  readonly test = (title: string, run: () => void | Promise<void>): void => {
    this.#tests.set([...this.#titles, title].join(' › '), run)
  }

  get titles(): readonly string[] {
    return [...this.#tests.keys()]
  }

  async run(title: string): Promise<void> {
    await this.#tests.get(title)?.()
  }
}
