/**
 * Makes the names of the route scopes of an application unique by appending `~2`, `~3` and so on. The results are equal
 * in all processes that declare their parts in the same order.
 */
export class RouteScopeNames {
  readonly #alike = new Map<string, unknown[]>()

  /** Returns the unique name of `part`, the object that has the name. The same part always receives the same name. */
  of(name: string, part: unknown): string {
    const alike = this.#alike.get(name) ?? []
    this.#alike.set(name, alike)
    if (!alike.includes(part)) alike.push(part)
    const index = alike.indexOf(part)
    return index === 0 ? name : `${name}~${index + 1}`
  }
}
