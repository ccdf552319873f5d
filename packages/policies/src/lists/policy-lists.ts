import { isAbsolute, join } from 'node:path'
import { messageOf, warn } from '@sluice/http'
import type { PolicyDocument, WrittenList } from '../document/policy-document.ts'
import type { AttributeSource } from '../matching/attribute-source.ts'
import type { WatchOptions } from '../source/policy-source.ts'
import { compileList } from './compile-list.ts'
import type { EntryList } from './entry-list.ts'
import { type ListFile, listFile } from './list-file.ts'
import type { LoadedList } from './list-report.ts'

/** Name of the policy that denies the clients of a block list. */
export const BLOCK_LIST = 'blocklist'

/** Most entries in a warning. */
const SHOWN = 5

/** What the lists of a document say about a request: it is denied, or no policy applies to it. */
export type ListAnswer = 'block' | 'allow' | undefined

/** A list of a document, which a reload of its file replaces. */
interface CurrentList {
  /** Path in the document. */
  readonly name: string
  readonly file: ListFile | undefined
  entries: EntryList | undefined
}

/** The lists of a policy document. */
export class PolicyLists {
  readonly #block: CurrentList
  readonly #allow: CurrentList
  /** Names of the attributes that lists can contain: those that policies count by. */
  readonly #keyNames: readonly string[]

  /** `folder`: folder of relative paths. Lists in files are empty until `load` or `loadSync` is called. */
  constructor({ lists: { allow, block } = {}, policies }: PolicyDocument, folder: string) {
    this.#block = listOf(block, folder)
    this.#allow = listOf(allow, folder)
    const names = policies.flatMap(({ key = [] }) => key)
    this.#keyNames = [...new Set(names)].filter((name) => name !== 'address')
  }

  /** Whether a request can be denied by a list. */
  get blocks(): boolean {
    return isUsed(this.#block)
  }

  get isEmpty(): boolean {
    return !isUsed(this.#block) && !isUsed(this.#allow)
  }

  /** Loads the lists in files, and blocks the event loop meanwhile. Throws `SLUICE_POLICIES_UNREADABLE`. */
  loadSync(): void {
    for (const list of this.#files()) if (list.file) list.entries = entriesOf(list.name, list.file.loadSync())
  }

  /** Loads the lists in files that have changed. Rejects with `SLUICE_POLICIES_UNREADABLE`. */
  async load(): Promise<void> {
    await Promise.all(this.#files().map(reload))
  }

  /** Reloads the lists in files whenever they change. Returns a function that stops watching. */
  watch(options: WatchOptions): () => void {
    const stops = this.#files().map((list) =>
      list.file?.watch(() => {
        reload(list).catch((error: unknown) => {
          warn('SLUICE_POLICIES_STALE', `the list ${list.name} was not replaced: ${messageOf(error)}`)
        })
      }, options),
    )
    return () => {
      for (const stop of stops) stop?.()
    }
  }

  /**
   * Returns what the lists say about a request with this full address of its client and these attributes. An entry of
   * `block` takes precedence.
   */
  answer(address: string | undefined, read: AttributeSource): ListAnswer {
    const keys = this.#keyNames.flatMap((name) => {
      const value = read(name)
      return value === undefined ? [] : [String(value)]
    })
    if (has(this.#block, address, keys)) return 'block'
    return has(this.#allow, address, keys) ? 'allow' : undefined
  }

  #files(): readonly CurrentList[] {
    return [this.#block, this.#allow].filter(({ file }) => file !== undefined)
  }
}

function listOf(list: WrittenList | undefined, folder: string): CurrentList {
  if (list === undefined) return { name: '', file: undefined, entries: undefined }
  if (!('file' in list)) return { name: '', file: undefined, entries: compileList(list).list }
  const path = isAbsolute(list.file) ? list.file : join(folder, list.file)
  return { name: list.file, file: listFile(path), entries: undefined }
}

function isUsed({ file, entries }: CurrentList): boolean {
  return file !== undefined || (entries !== undefined && entries.size > 0)
}

async function reload(list: CurrentList): Promise<void> {
  const loaded = await list.file?.load()
  if (loaded) list.entries = entriesOf(list.name, loaded)
}

/** Returns the entries of a list in a file. Warns about those that are ignored, and about probable mistakes. */
function entriesOf(name: string, { list, problems, invalid, warnings }: LoadedList): EntryList {
  const which = invalid === 1 ? `1 invalid entry of ${name} was` : `${invalid} invalid entries of ${name} were`
  warnAbout(name, `${which} ignored`, problems)
  warnAbout(name, `entries of ${name} are probably mistakes`, warnings)
  return list
}

function warnAbout(name: string, what: string, remarks: LoadedList['problems']): void {
  if (remarks.length === 0) return
  const shown = remarks.slice(0, SHOWN).map(({ line, message }) => `${name}:${line}: ${message}`)
  warn('SLUICE_BAD_LIST', `${what}: ${shown.join('; ')}`)
}

function has({ entries }: CurrentList, address: string | undefined, keys: readonly string[]): boolean {
  if (!entries || entries.size === 0) return false
  return entries.has(address, undefined) || keys.some((key) => entries.has(undefined, key))
}
