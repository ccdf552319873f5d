/** What every adapter shows of a request; `raw` is the framework's own. */
export interface RequestView<Raw = unknown> {
  /** The client's address as the framework knows it; unchecked text. */
  readonly ip: string | undefined
  /** The address at the other end of the socket: stands in where `ip` is no address. */
  readonly peer?: string | undefined
  readonly method: string
  /** The pattern of the matched route as the application wrote it, mounts included, and nothing of the URL; undefined where none is known. */
  readonly route: string | undefined
  /** One method that the route was declared for, the same for all of a route that takes several; GET for HEAD. */
  readonly routeMethod?: string | undefined
  /** The value of a header that came exactly once; undefined where it came never or more than once. */
  header(name: string): string | undefined
  readonly raw: Raw
  /** The response of node:http beneath the framework's, where there is one; for whoever waits for its `close`. */
  readonly outgoing?: unknown
}
