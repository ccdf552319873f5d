import type { GossipNode } from '@sluice/gossip'

/** Sender of any messages, in a fleet without a secret. */
export class HostileSender {
  readonly #name: string

  constructor(name = 'attacker') {
    this.#name = name
  }

  /** Sends an ask with any fields, and returns the answer. */
  ask(node: GossipNode, fields: object = {}): { readonly ticket: string; readonly clocks: [string, number][] } {
    const message = { v: 1, kind: 'ask', from: this.#name, nonce: 'n', clocks: [], ...fields }
    return JSON.parse(Buffer.from(node.answer(bytesOf(message))).toString())
  }

  /** Pushes any parts of logs. */
  push(node: GossipNode, parts: unknown): void {
    const { ticket } = this.ask(node)
    node.answer(bytesOf({ v: 1, kind: 'push', from: this.#name, nonce: 'n', ticket, parts }))
  }

  /** Pushes a log with these items, whose clocks are 1, 2, 3 and so on. */
  pushLog(node: GossipNode, name: string, items: readonly (readonly [key: string, value: unknown])[]): void {
    const sent = items.map(([key, value], at) => [at + 1, 0, key, value])
    this.push(node, [[name, 0, sent.length, sent]])
  }
}

export function bytesOf(message: unknown): Buffer {
  return Buffer.from(JSON.stringify(message))
}

/** Returns a name such as `openLog` gives to the logs of counters. */
export function counterLog(number: number): string {
  return `counters-${String(number).padStart(16, '0')}`
}

/** Returns the value of a sample in Prometheus text, or undefined if there is none. */
export function sampleOf(text: string, name: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}
