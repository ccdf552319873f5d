import {
  type ChangingPolicies,
  messageOf,
  type PolicyFollower,
  type PreparedPolicies,
  prepareAll,
  type RequestPolicy,
  warn,
} from '@sluice/http'
import { PolicyFileError } from './document/file-problem.ts'
import { PolicyLists } from './lists/policy-lists.ts'
import { parseDocument } from './parse/parse-document.ts'
import type { AttributeFunctions } from './requests/request-attributes.ts'
import { requestPolicies } from './requests/request-policies.ts'
import type { PolicySource, WatchOptions } from './source/policy-source.ts'

/** A document, compiled. */
interface Compiled<Req, Res> {
  readonly policies: readonly RequestPolicy<Req, Res>[]
  readonly lists: PolicyLists
}

/** The policies of a document, which replace the previous ones when the document changes. */
export class LoadedPolicies<Req extends object, Res> implements ChangingPolicies<Req, Res> {
  readonly #source: PolicySource
  readonly #attributes: AttributeFunctions<Req, Res>
  readonly #followers = new Set<PolicyFollower>()
  #current: Compiled<Req, Res>
  #reading: Promise<void> | undefined
  #isReadAgain = false
  /**
   * Text of the last document, if one of its lists could not be read, or if it was read while the policies were closed.
   * Sources return a text only once.
   */
  #waiting: string | undefined
  /** How often `close` was called. */
  #closes = 0
  #watch: WatchOptions | undefined
  #stop: (() => void) | undefined
  #stopLists: (() => void) | undefined

  private constructor(source: PolicySource, attributes: AttributeFunctions<Req, Res>, current: Compiled<Req, Res>) {
    this.#source = source
    this.#attributes = attributes
    this.#current = current
  }

  /** Loads the document synchronously from its text. Throws `PolicyFileError` and `SLUICE_POLICIES_UNREADABLE`. */
  static loadSync<Req extends object, Res>(
    source: PolicySource,
    text: string,
    attributes: AttributeFunctions<Req, Res>,
  ): LoadedPolicies<Req, Res> {
    const current = compiled(source, text, attributes)
    current.lists.loadSync()
    return new LoadedPolicies(source, attributes, current)
  }

  /** Loads the document from its text. Rejects with the errors of `loadSync`. */
  static async load<Req extends object, Res>(
    source: PolicySource,
    text: string,
    attributes: AttributeFunctions<Req, Res>,
  ): Promise<LoadedPolicies<Req, Res>> {
    const current = compiled(source, text, attributes)
    await current.lists.load()
    return new LoadedPolicies(source, attributes, current)
  }

  get current(): readonly RequestPolicy<Req, Res>[] {
    return this.#current.policies
  }

  follow(follower: PolicyFollower): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  /** Reads the document again. Resolves when its policies apply, or have been refused with a warning; never rejects. */
  reload(): Promise<void> {
    // a change during a read may be missing from what the read returns
    if (this.#reading) this.#isReadAgain = true
    else this.#reading = this.#read()
    return this.#reading
  }

  /** Reloads whenever the source, or a list in a file, may have changed. */
  watch(options: WatchOptions): void {
    this.#watch = options
    this.#stop = this.#source.watch(() => void this.reload(), options)
    this.#stopLists = this.#current.lists.watch(options)
  }

  /** Stops watching. The current policies stay in force. */
  close(): void {
    this.#stop?.()
    this.#stopLists?.()
    this.#closes++
    this.#isReadAgain = false
    this.#watch = undefined
    this.#stop = undefined
    this.#stopLists = undefined
  }

  async #read(): Promise<void> {
    do {
      this.#isReadAgain = false
      const closes = this.#closes
      try {
        const text = (await this.#sourceText()) ?? this.#waiting
        this.#waiting = text
        const next = text === undefined ? undefined : await this.#loaded(text)
        if (next && closes === this.#closes) this.#replace(next)
      } catch (error) {
        this.#refuse(error)
      }
    } while (this.#isReadAgain)
    this.#reading = undefined
  }

  /** Rejects if the source rejects, and also if the source of an application throws. */
  async #sourceText(): Promise<string | undefined> {
    return this.#source.read()
  }

  /** Returns the policies of a document, with its lists. */
  async #loaded(text: string): Promise<Compiled<Req, Res>> {
    let next: Compiled<Req, Res>
    try {
      next = compiled(this.#source, text, this.#attributes)
    } catch (error) {
      // it stays invalid, while a list may exist later
      this.#waiting = undefined
      throw error
    }
    await next.lists.load()
    return next
  }

  #replace(next: Compiled<Req, Res>): void {
    this.#waiting = undefined
    this.#apply(next)
    this.#stopLists?.()
    this.#stopLists = this.#watch && next.lists.watch(this.#watch)
  }

  /** Gives the policies to all limiters, or to none if one of them cannot have them. */
  #apply(next: Compiled<Req, Res>): void {
    const previous = this.#current
    this.#current = next
    let prepared: PreparedPolicies
    try {
      prepared = prepareAll([...this.#followers].map((follower) => () => follower.prepare()))
    } catch (error) {
      this.#current = previous
      throw error
    }
    prepared.commit()
    for (const follower of this.#followers) follower.report(this.#source.name)
  }

  #refuse(error: unknown): void {
    const { name } = this.#source
    const reason = error instanceof PolicyFileError ? error.details : messageOf(error)
    warn('SLUICE_POLICIES_STALE', `the policies of ${name} were not replaced: ${reason}`)
    for (const follower of this.#followers) follower.report(name, error)
  }
}

function compiled<Req extends object, Res>(
  { name, folder = '' }: PolicySource,
  text: string,
  attributes: AttributeFunctions<Req, Res>,
): Compiled<Req, Res> {
  const document = parseDocument(text, name, { attributes: Object.keys(attributes) })
  const lists = new PolicyLists(document, folder)
  return { lists, policies: requestPolicies(document, attributes, lists) }
}
