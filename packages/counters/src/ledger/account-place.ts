import type { AccountId } from './quota-table.ts'

/** Returns a map key for an account. */
export function accountPlace({ name, key }: AccountId): string {
  return JSON.stringify([name, key])
}
