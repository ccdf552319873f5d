import { createHmac } from 'node:crypto'

/** What a login looks like for the client. */
export interface Visit {
  /** `solved`: after a challenge. `prepared`: the page had a task, which was solved before the attempt. */
  readonly outcome: 'in' | 'wrong password' | 'challenged' | 'denied'
  readonly challenged: boolean
  readonly prepared: boolean
}

export interface Person {
  readonly email: string
  readonly password: string
  readonly address: string
}

/** A client with cookies of its own. It claims its address, as a proxy would. */
export class Browser {
  readonly #url: string
  readonly #cookies = new Map<string, string>()

  constructor(url: string) {
    this.#url = url
  }

  /** Opens the page of the form and logs in. Solves tasks, as the scripts of the pages do in a browser. */
  async logIn(person: Person): Promise<Visit> {
    const page = await this.#send('GET', '/login', person.address)
    const answer = solve(await page.text())
    let { outcome, html } = await this.#attempt(person, answer)
    const challenged = outcome === 'challenged'
    if (challenged) ({ outcome } = await this.#attempt(person, solve(html)))
    return { outcome, challenged, prepared: answer !== '' }
  }

  /** Sends a guess without opening the page, as most bots do. If `solves`, it solves the task of a challenge. */
  async guess(person: Person, solves = false): Promise<Visit['outcome']> {
    const { outcome, html } = await this.#attempt(person, '')
    if (outcome !== 'challenged' || !solves) return outcome
    return (await this.#attempt(person, solve(html))).outcome
  }

  async changePassword(password: string, { address }: Person): Promise<void> {
    await this.#send('POST', '/password', address, { password })
  }

  async #attempt(
    { email, password, address }: Person,
    proof: string,
  ): Promise<{ outcome: Visit['outcome']; html: string }> {
    const response = await this.#send('POST', '/login', address, { email, password, proof })
    const outcomes: Readonly<Record<number, Visit['outcome']>> = { 200: 'in', 401: 'wrong password', 403: 'challenged' }
    return { outcome: outcomes[response.status] ?? 'denied', html: await response.text() }
  }

  async #send(method: string, path: string, address: string, fields?: Record<string, string>): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { 'x-forwarded-for': address, cookie }
    const body = fields && new URLSearchParams(fields)
    const response = await fetch(`${this.#url}${path}`, { method, headers, redirect: 'manual', ...(body && { body }) })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (name) this.#cookies.set(name, value)
    }
    return response
  }
}

/** Returns the answer to the task of a page; an empty text if the page has none. */
function solve(html: string): string {
  const [, text, bits] = /data-text="([^"]+)" data-bits="(\d+)"/.exec(html) ?? []
  for (let tried = 0; text !== undefined; tried++) {
    const nonce = tried.toString(36)
    const hash = createHmac('sha256', text).update(nonce).digest()
    if (Math.clz32(hash.readUInt32BE()) >= Number(bits)) return `${text}.${nonce}`
  }
  return ''
}
