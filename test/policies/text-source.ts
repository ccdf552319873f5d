import type { PolicySource } from '@sluice/policies'

/** A document in memory, for tests. */
export class TextSource implements PolicySource {
  readonly name = 'policies.yaml'
  #text: string
  #isRead = false
  #changed: (() => void) | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** Replaces the document, and reports the change if it is watched. */
  set text(text: string) {
    this.#text = text
    this.#isRead = false
    this.#changed?.()
  }

  readSync(): string {
    this.#isRead = true
    return this.#text
  }

  async read(): Promise<string | undefined> {
    return this.#isRead ? undefined : this.readSync()
  }

  watch(changed: () => void): () => void {
    this.#changed = changed
    return () => {
      this.#changed = undefined
    }
  }
}
