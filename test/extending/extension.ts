import { join } from 'node:path'
import { filesBelow } from '../repository.ts'

/** An insertion into a file of the repository. */
export interface Edit {
  readonly path: string
  /** Text that is in the file exactly once. */
  readonly after: string
  readonly insert: string
}

/** An addition to the repository that follows a list of ARCHITECTURE.md. */
export class Extension {
  /** Folder of the new files. Each name ends in `.txt`, so that no tool treats the file as a part of the repository. */
  readonly folder: string
  readonly edits: readonly Edit[]

  constructor(name: string, edits: readonly Edit[]) {
    this.folder = join(import.meta.dirname, name, 'files')
    this.edits = edits
  }

  get newFiles(): string[] {
    return filesBelow(this.folder).map((path) => path.replace(/\.txt$/, ''))
  }

  /** Paths of all new and edited files, sorted. */
  get paths(): string[] {
    return [...new Set([...this.newFiles, ...this.edits.map(({ path }) => path)])].sort()
  }

  /** Paths of all new and edited TypeScript files. */
  get typed(): string[] {
    return this.paths.filter((path) => /(?<!\.d)\.ts$/.test(path))
  }
}
