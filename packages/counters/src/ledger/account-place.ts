import type { AccountId } from './quota-table.ts'

/** An account as the key of a map. */
export function accountPlace({ name, key }: AccountId): string {
  return JSON.stringify([name, key])
}
