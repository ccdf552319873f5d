import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { badOption } from '@sluice/limiter-core/backend'
import { FileWatch } from './file-watch.ts'
import type { PolicySource, WatchOptions } from './policy-source.ts'
import { SerialReads } from './serial-reads.ts'
import { unreadable } from './unreadable.ts'

/**
 * Creates a source for a file in YAML or JSON, also in a Kubernetes ConfigMap mount. Changes are found by events of the
 * operating system, usually within 0.1 s, and also by reading the file at each interval, because network file systems
 * report no events.
 *
 * Throws `SLUICE_BAD_OPTION` if `path` is not a path.
 */
export function fileSource(path: string): PolicySource & { readSync(): string } {
  if (typeof path !== 'string' || path === '') throw badOption('fileSource: path', path, 'the path of a file')
  return new FileSource(path)
}

class FileSource implements PolicySource {
  readonly name: string
  readonly folder: string
  readonly #reads = new SerialReads()
  #text: string | undefined

  constructor(path: string) {
    this.name = path
    this.folder = dirname(path)
  }

  readSync(): string {
    try {
      this.#text = readFileSync(this.name, 'utf8')
      return this.#text
    } catch (error) {
      throw unreadable(this.name, error)
    }
  }

  read(): Promise<string | undefined> {
    return this.#reads.run(async () => {
      // the whole text is compared: two writes within the resolution of the file system's clock leave one time
      const text = await readFile(this.name, 'utf8').catch((error: unknown) => {
        throw unreadable(this.name, error)
      })
      if (text === this.#text) return undefined
      this.#text = text
      return text
    })
  }

  watch(changed: () => void, options: WatchOptions): () => void {
    const watch = new FileWatch(this.name, changed, options)
    return () => watch.stop()
  }
}
