/** What the address of a client is determined from, in the form that is common to all frameworks. */
export interface ClientSource {
  /** The address according to the framework's own setting. */
  readonly ip: string | undefined
  /** The address of the socket's peer. */
  readonly peer?: string | undefined
  /**
   * How a peer without an address is connected: by a Unix socket, which only programs of this machine can open, or as
   * the load balancer of AWS that invokes this function.
   */
  readonly link?: 'unix' | 'aws-alb' | undefined
  /** Returns a header; values of a repeated header are joined by `, `. */
  headerText(name: string): string | undefined
}
