/** A request in the form that is common to all frameworks. */
export interface RequestView<Raw = unknown> {
  /** The client address according to the framework; not validated. */
  readonly ip: string | undefined
  /** The peer address of the socket, used if `ip` is not an address. */
  readonly peer?: string | undefined
  readonly method: string
  /** Pattern of the matched route as declared, with mount paths, never the URL; undefined if it is not known. */
  readonly route: string | undefined
  /**
   * Whether `route` is undefined only for requests that no route matches. Otherwise it is also undefined before the
   * router has run. Default: false.
   */
  readonly knowsRoutes?: boolean | undefined
  /** Method of the declared route; GET for HEAD. A route of several methods has the same one for all of them. */
  readonly routeMethod?: string | undefined
  /** Returns the value of a header that was sent exactly once; undefined if it is missing or repeated. */
  header(name: string): string | undefined
  /** Request object of the framework. */
  readonly raw: Raw
  /** The `node:http` response behind the framework's response, if there is one; used to wait for `close`. */
  readonly outgoing?: unknown
}
