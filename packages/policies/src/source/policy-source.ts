import type { Clock } from '@sluice/limiter-core'

/** How a source is watched. */
export interface WatchOptions {
  readonly clock: Clock
  /** Milliseconds between two looks at the source. Files are also watched by events of the operating system. */
  readonly intervalMs: number
}

/** The place where a policy document is stored. */
export interface PolicySource {
  /** Name in messages, such as `policies.yaml`, without credentials. */
  readonly name: string
  /** Folder of relative paths in the document. Default: the working directory. */
  readonly folder?: string | undefined
  /**
   * Returns the current text synchronously. Only sources that can do so have this method. Throws
   * `SLUICE_POLICIES_UNREADABLE`.
   */
  readSync?(): string
  /**
   * Returns the current text, or undefined if it is equal to the text that this source returned last. Calls may overlap:
   * they run one after another. Rejects with `SLUICE_POLICIES_UNREADABLE`; the next call then tries again.
   */
  read(): Promise<string | undefined>
  /**
   * Calls `changed` when the document may have changed. Read the source then, or, if a read is under way, once more
   * after that read. Returns a function that stops watching. Never keeps the process alive.
   */
  watch(changed: () => void, options: WatchOptions): () => void
}

/** A source to which a new version of the document can be published. */
export interface WritablePolicySource extends PolicySource {
  /**
   * Checks a document and stores it as the next version, atomically. Returns the number of the version, from 1. Rejects
   * with `PolicyFileError` if the document is invalid, and stores nothing then. Rejects with the error of the client if
   * the call fails; if no reply arrived in time, the document may have been stored.
   */
  publish(text: string): Promise<number>
}
