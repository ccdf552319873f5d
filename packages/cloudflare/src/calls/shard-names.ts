import { EntryNames, partitionOf } from '@sluice/fleet/backend'

/** Names of stored entries, and the object of each client key. */
export class ShardNames extends EntryNames {
  readonly #shards: number

  /** Throws `SLUICE_BAD_OPTION` if the secret is too short. */
  constructor(secret: string | undefined, shards: number) {
    super(secret, 'durableObjectBackend')
    this.#shards = shards
  }

  /** Returns the shard of a client key. All policies of a key have the same shard. */
  shardOf(key: string): number {
    return partitionOf(this.hashesAll ? this.storedKey(key) : key, this.#shards)
  }
}
