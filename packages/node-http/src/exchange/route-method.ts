/**
 * The one method under which a route counts that takes several: GET where it takes GET, HEAD or, with none declared,
 * everything; else the first. A client that may choose among methods has one key with all of them.
 */
export function routeMethod(methods: readonly string[]): string {
  const takesGet = methods.length === 0 || methods.includes('GET') || methods.includes('HEAD')
  return takesGet ? 'GET' : methods[0]
}
