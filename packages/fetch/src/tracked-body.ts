/** Statuses whose responses have no body (Fetch standard, null body status). */
const BODILESS = [101, 204, 205, 304]

/** A response whose body reports its end. */
export interface TrackedResponse {
  readonly response: Response
  /** Ends the body: an event stream with `lastEvent`, any other body with an error. Does nothing after its end. */
  cutOff(lastEvent: string): void
}

/**
 * Returns the response with a body that calls `end` once: with true when it was read completely, and with false when it
 * failed or was cancelled. A response without a body has ended when it is returned.
 */
export function trackedResponse(
  response: Response,
  method: string,
  end: (completed: boolean) => void,
): TrackedResponse {
  const { body, status } = response
  // servers read no body of these, and cannot read one that is locked
  if (body === null || body.locked || method === 'HEAD' || BODILESS.includes(status)) {
    end(true)
    return { response, cutOff: () => {} }
  }
  const tracked = new TrackedBody(body.getReader(), end)
  // otherwise a chunk would be read before the server asks for it
  const stream = new ReadableStream<Uint8Array>(tracked, { highWaterMark: 0 })
  const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const cutOff = (lastEvent: string): void => tracked.cutOff(isEventStream ? lastEvent : undefined)
  return { response: new Response(stream, response), cutOff }
}

/** The source of a stream with the chunks of another one. */
class TrackedBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #end: (completed: boolean) => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #isOver = false

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>, end: (completed: boolean) => void) {
    this.#reader = reader
    this.#end = end
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

  /** Ends the stream with a last event, or with an error if there is none. */
  cutOff(lastEvent: string | undefined): void {
    if (this.#isOver) return
    const isEventStream = lastEvent !== undefined
    if (isEventStream) {
      this.#controller?.enqueue(new TextEncoder().encode(lastEvent))
      this.#controller?.close()
    } else {
      this.#controller?.error(new Error('the response was ended because a limit was reached'))
    }
    this.#finish(isEventStream)
    this.#reader.cancel().catch(() => {})
  }

  #finish(completed: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#end(completed)
  }
}
