/** A request that is sent to a server with others, at the latest at its deadline. */
export interface TimedRequest {
  /** `take` and `peek` have a caller that waits. */
  readonly operation: string
  readonly deadlineAt: number | undefined
  readonly reject: (error: Error) => void
  /** Whether the request is sent for the second time. */
  retried: boolean
}

/** Whether a caller waits for the request until its deadline. The deadlines of other operations are much later. */
export function isUrgent({ operation, deadlineAt }: Pick<TimedRequest, 'operation' | 'deadlineAt'>): boolean {
  return deadlineAt !== undefined && (operation === 'take' || operation === 'peek')
}

/** Returns the earliest deadline of the requests; Infinity if none has one. */
export function soonest(requests: readonly Pick<TimedRequest, 'deadlineAt'>[]): number {
  let soonestAt = Number.POSITIVE_INFINITY
  for (const { deadlineAt } of requests) if (deadlineAt !== undefined && deadlineAt < soonestAt) soonestAt = deadlineAt
  return soonestAt
}

/** Returns the requests whose deadline has not passed, and rejects the others. */
export function stillWanted<R extends TimedRequest>(
  requests: readonly R[],
  now: number,
  late: (request: R) => Error,
): readonly R[] {
  if (soonest(requests) > now) return requests
  return requests.filter((request) => {
    const wanted = request.deadlineAt === undefined || request.deadlineAt > now
    if (!wanted) request.reject(late(request))
    return wanted
  })
}

/** Sends requests once more if their deadline has not passed. Rejects the others with `failure`. */
export function sendAgain<R extends TimedRequest>(
  requests: readonly R[],
  now: number,
  failure: Error,
  send: (request: R) => void,
): void {
  for (const request of requests) {
    if (request.retried || (request.deadlineAt ?? Number.POSITIVE_INFINITY) <= now) request.reject(failure)
    else {
      request.retried = true
      send(request)
    }
  }
}
