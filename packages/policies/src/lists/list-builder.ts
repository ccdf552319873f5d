import { concernAbout, parseEntry, type RangeEntry } from '../document/list-entry.ts'
import { AddressRanges } from './address-ranges.ts'
import { EntryList } from './entry-list.ts'
import { KeyTableBuilder } from './key-table.ts'
import { RecordBuffer } from './record-buffer.ts'
import { sortedRecords } from './sort-records.ts'
import type { Steps } from './steps.ts'

/** What is wrong with an entry. */
interface EntryRemark {
  /** Whether the entry is left out. If not, it is probably a mistake. */
  readonly isInvalid: boolean
  readonly message: string
}

/** Collects the entries of a list. */
export class ListBuilder {
  #size = 0
  readonly #v4 = new RecordBuffer(2)
  readonly #v6 = new RecordBuffer(5)
  readonly #keys = new KeyTableBuilder()

  /** Adds an entry, without spaces around it. Returns what is wrong with it, or undefined. */
  add(text: string): EntryRemark | undefined {
    const entry = parseEntry(text)
    if (typeof entry === 'string') return { isInvalid: true, message: entry }
    if ('key' in entry) {
      if (!this.#keys.add(entry.key))
        return { isInvalid: true, message: 'expected at most 4 GiB of keys, received more' }
    } else addRange(entry.groups.length === 2 ? this.#v4 : this.#v6, entry)
    this.#size++
    const concern = concernAbout(entry)
    return concern === undefined ? undefined : { isInvalid: false, message: concern }
  }

  /** Builds the list and empties the builder. */
  *build(): Steps<EntryList> {
    const v4 = yield* AddressRanges.from(yield* sortedRecords(this.#v4), 1)
    const v6 = yield* AddressRanges.from(yield* sortedRecords(this.#v6), 4)
    const keys = yield* this.#keys.build()
    return new EntryList({ size: this.#size, v4, v6, keys })
  }
}

function addRange(buffer: RecordBuffer, { groups, bits }: RangeEntry): void {
  const { words, at } = buffer.add()
  for (let group = 0; group < groups.length; group += 2) {
    words[at + group / 2] = (groups[group] << 16) | groups[group + 1]
  }
  words[at + groups.length / 2] = bits
}
