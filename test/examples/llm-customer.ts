import OpenAI from 'openai'

/** A customer of the gateway, with the client of OpenAI. */
export class Customer {
  readonly client: OpenAI
  readonly #model: string

  constructor(url: string, apiKey: string, model = 'stub-small') {
    this.client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
    this.#model = model
  }

  /** Asks for an answer at once. */
  ask(prompt: string) {
    return this.client.chat.completions.create({ model: this.#model, messages: [{ role: 'user', content: prompt }] })
  }

  /** Sends a call with a priority. */
  call(priority: string, content: string, signal?: AbortSignal) {
    const body = { model: this.#model, messages: [{ role: 'user' as const, content }] }
    return this.client.chat.completions.create(body, { headers: { 'x-priority': priority }, ...(signal && { signal }) })
  }

  /** Reads a streamed answer, up to `words` words, and then leaves. Returns the number of words. */
  async read(prompt: string, words = Number.POSITIVE_INFINITY, onWord = (): void => {}): Promise<number> {
    const messages = [{ role: 'user', content: prompt }] as const
    const stream = await this.client.chat.completions.create({
      model: this.#model,
      messages: [...messages],
      stream: true,
    })
    let received = 0
    for await (const { choices } of stream) {
      if (!choices[0]?.delta.content) continue
      onWord()
      if (++received === words) break
    }
    return received
  }

  async usage(): Promise<Readonly<Record<'requests' | 'tokens' | 'budget', { limit: number; remaining: number }>>> {
    return this.client.get('/usage')
  }

  /** Returns what the customer has spent or reserved, in millionths of a dollar. */
  async spent(): Promise<number> {
    const { budget } = await this.usage()
    return budget.limit - budget.remaining
  }
}
