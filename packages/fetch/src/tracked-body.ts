/** Statuses whose responses have no body (Fetch standard, null body status). */
const BODILESS = [101, 204, 205, 304]

/** A response, and its body if the body reports its end. */
export interface TrackedResponse {
  readonly response: Response
  readonly body?: TrackedBody | undefined
}

/**
 * Returns the response with a body that calls `end` once: with true when it was read completely, and with false when it
 * failed or was cancelled. A response without a body has ended when it is returned. The body keeps `owner` alive.
 */
export function trackedResponse(
  response: Response,
  method: string,
  end: (completed: boolean) => void,
  owner?: object,
): TrackedResponse {
  const { body, status } = response
  // servers read no body of these, and cannot read one that is locked
  if (body === null || body.locked || method === 'HEAD' || BODILESS.includes(status)) {
    end(true)
    return { response }
  }
  const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const tracked = new TrackedBody(body.getReader(), isEventStream, end, owner)
  // otherwise a chunk would be read before the server asks for it
  const stream = new ReadableStream<Uint8Array>(tracked, { highWaterMark: 0 })
  return { response: new Response(stream, response), body: tracked }
}

/** The source of a stream with the chunks of another one. */
export class TrackedBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #isEventStream: boolean
  readonly #end: (completed: boolean) => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #isOver = false
  readonly owner: object | undefined

  constructor(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    isEventStream: boolean,
    end: (completed: boolean) => void,
    owner: object | undefined,
  ) {
    this.#reader = reader
    this.#isEventStream = isEventStream
    this.#end = end
    this.owner = owner
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const { done, value } = await this.#reader.read()
      if (this.#isOver) return
      if (!done) return controller.enqueue(value)
      controller.close()
      this.#finish(true)
    } catch (error) {
      if (this.#isOver) return
      controller.error(error)
      this.#finish(false)
    }
  }

  cancel(reason: unknown): Promise<void> {
    this.#finish(false)
    return this.#reader.cancel(reason)
  }

  /** Ends the body: an event stream with `lastEvent`, any other body with an error. Does nothing after its end. */
  cutOff(lastEvent: string): void {
    if (this.#isOver) return
    if (this.#isEventStream) {
      this.#controller?.enqueue(new TextEncoder().encode(lastEvent))
      this.#controller?.close()
    } else {
      this.#controller?.error(new Error('the response was ended because a limit was reached'))
    }
    this.#finish(this.#isEventStream)
    this.#reader.cancel().catch(() => {})
  }

  #finish(completed: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#end(completed)
  }
}
