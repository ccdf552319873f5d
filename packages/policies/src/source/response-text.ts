import { TextDecoder } from 'node:util'

/** Most bytes of a document, after decompression. */
const MAX_BYTES = 4 * 2 ** 20

/** Returns the body of a response as UTF-8. Throws if it is larger than 4 MiB, without reading the rest. */
export async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) throw new Error(`expected a document of at most ${MAX_BYTES} bytes, received a larger one`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
