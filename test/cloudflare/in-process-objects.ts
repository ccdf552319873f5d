import { type LimitNamespace, LimitObject, type LimitStorage } from '@sluice/cloudflare'

/** Objects of `LimitObject` in this process. Their storage lets requests interleave, which the runtime prevents. */
export class InProcessObjects implements LimitNamespace {
  readonly storages = new Map<string, InProcessStorage>()
  /** Number of calls of objects. */
  calls = 0
  /** Runs before each call reaches its object. */
  before: () => unknown = () => {}
  readonly objects = new Map<string, LimitObject>()

  idFromName(name: string): object {
    return { name }
  }

  get(id: object): ReturnType<LimitNamespace['get']> {
    const { name } = id as { readonly name: string }
    return {
      fetch: async (url, init) => {
        this.calls++
        await this.before()
        return this.#objectOf(name).fetch(new Request(url, init))
      },
    }
  }

  /** Ends all objects. Later calls start them again with their storage. */
  restart(): void {
    this.objects.clear()
  }

  #objectOf(name: string): LimitObject {
    const storage = this.storages.get(name) ?? new InProcessStorage()
    this.storages.set(name, storage)
    const object = this.objects.get(name) ?? new LimitObject({ storage })
    this.objects.set(name, object)
    return object
  }
}

/** Storage of an object as in the runtime, but without gates. */
export class InProcessStorage implements LimitStorage {
  readonly values = new Map<string, unknown>()
  alarmAt: number | null = null

  async get(keys: string[]): Promise<Map<string, unknown>> {
    checkKeys(keys)
    const found = keys.filter((key) => this.values.has(key)).map((key) => [key, this.values.get(key)] as const)
    // after the read, so that other requests run between the read and its result
    await new Promise((resolve) => setImmediate(resolve))
    return new Map(found.map(([key, value]) => [key, structuredClone(value)]))
  }

  async put(entries: Record<string, unknown>, _options?: { readonly allowUnconfirmed?: boolean }): Promise<void> {
    checkKeys(Object.keys(entries))
    for (const [key, value] of Object.entries(entries)) this.values.set(key, structuredClone(value))
  }

  async delete(keys: string[]): Promise<number> {
    checkKeys(keys)
    return keys.filter((key) => this.values.delete(key)).length
  }

  async list({ startAfter = '', limit }: { startAfter?: string; limit: number }): Promise<Map<string, unknown>> {
    const keys = [...this.values.keys()].sort().filter((key) => key > startAfter)
    return this.get(keys.slice(0, limit))
  }

  async getAlarm(): Promise<number | null> {
    return this.alarmAt
  }

  async setAlarm(at: number): Promise<void> {
    this.alarmAt = at
  }
}

function checkKeys(keys: readonly string[]): void {
  if (keys.length > 128) throw new RangeError(`${keys.length} keys in one operation`)
  const long = keys.find((key) => Buffer.byteLength(key) > 2_048)
  if (long !== undefined) throw new RangeError(`a key of ${Buffer.byteLength(long)} bytes`)
}
