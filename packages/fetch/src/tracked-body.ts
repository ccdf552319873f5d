/** Statuses whose responses have no body (Fetch standard, null body status). */
const BODILESS = [101, 204, 205, 304]

/**
 * Returns the response with a body that calls `end` once: with true when it was read completely, and with false when it
 * failed or was cancelled. A response without a body has ended when it is returned.
 */
export function withTrackedBody(response: Response, method: string, end: (completed: boolean) => void): Response {
  const { body, status } = response
  // servers read no body of these, and cannot read one that is locked
  if (body === null || body.locked || method === 'HEAD' || BODILESS.includes(status)) {
    end(true)
    return response
  }
  const reader = body.getReader()
  const tracked = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          controller.close()
          end(true)
        } catch (error) {
          controller.error(error)
          end(false)
        }
      },
      cancel(reason) {
        end(false)
        return reader.cancel(reason)
      },
    },
    // otherwise a chunk would be read before the server asks for it
    { highWaterMark: 0 },
  )
  return new Response(tracked, response)
}
