import type { QuotaAccount } from './quota-account.ts'

/** What somebody wants to become of an account. */
export interface PendingChange {
  /** Makes it count once, however often it is asked for. Such a change is written alone. */
  readonly token?: string | undefined
  /** Changes an account whose ended leases are settled; may be called again, on another one, where that changed meanwhile. */
  apply(account: QuotaAccount): void
  /** It stands. */
  done(): void
  /** Its token was used before. */
  used?(): void
  /** Nobody knows whether it stands; `settled` says so later. */
  failed(error: unknown): void
  settled?(stands: boolean): void
}
