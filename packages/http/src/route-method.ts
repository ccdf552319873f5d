/**
 * Returns the method under which all requests of a route are counted, so that a client cannot have one key per method:
 * GET if the route accepts GET, HEAD or all methods (none declared), otherwise its first method.
 */
export function routeMethod(methods: readonly string[]): string {
  const takesGet = methods.length === 0 || methods.includes('GET') || methods.includes('HEAD')
  return takesGet ? 'GET' : methods[0]
}
