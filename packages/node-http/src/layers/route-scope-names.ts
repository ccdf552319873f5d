/**
 * Names the route scopes of an application, so that two of one name differ. Equal in all processes that declare their
 * parts in the same order.
 */
export class RouteScopeNames {
  readonly #alike = new Map<string, unknown[]>()

  /** `part` is what has the name: the same one has the same name again. */
  of(name: string, part: unknown): string {
    const alike = this.#alike.get(name) ?? []
    this.#alike.set(name, alike)
    if (!alike.includes(part)) alike.push(part)
    const index = alike.indexOf(part)
    return index === 0 ? name : `${name}~${index + 1}`
  }
}
