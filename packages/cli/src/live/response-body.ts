/** Returns the body of a response. Rejects if it is longer than `most` UTF-16 units. */
export async function boundedBody(response: Response, most: number): Promise<string> {
  let text = ''
  for await (const part of decoded(response)) {
    text += part
    if (text.length > most) throw new Error(`the response is longer than ${most} characters`)
  }
  return text
}

/** Returns the body of a response in parts, as they arrive. */
export async function* decoded({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const bytes of body ?? []) yield decoder.decode(bytes as Uint8Array, { stream: true })
}
