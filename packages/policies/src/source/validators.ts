/** Time between two changes that `Last-Modified` cannot distinguish. */
const RESOLUTION_MS = 1_000

/** What identifies the version of a document that a server sent (RFC 9110, section 8.8). */
export class Validators {
  #url = ''
  #etag: string | undefined
  #lastModified: string | undefined

  /** Whether there are validators from this URL. Validators of one URL mean nothing to another one. */
  belongTo(url: URL): boolean {
    return url.href === this.#url && (this.#etag ?? this.#lastModified) !== undefined
  }

  /** Adds the validators to a request to the URL that sent them. */
  addTo(headers: Headers, url: URL): void {
    if (!this.belongTo(url)) return
    if (this.#etag !== undefined) headers.set('if-none-match', this.#etag)
    else if (this.#lastModified !== undefined) headers.set('if-modified-since', this.#lastModified)
  }

  update(url: URL, headers: Headers): void {
    this.#url = url.href
    this.#etag = headers.get('etag') ?? undefined
    const [modified, sent] = [headers.get('last-modified'), headers.get('date')]
    // a document sent within a second of its change may change once more with the same time
    const isDistinct = Date.parse(sent ?? '') - Date.parse(modified ?? '') >= RESOLUTION_MS
    this.#lastModified = isDistinct && modified !== null ? modified : undefined
  }
}
