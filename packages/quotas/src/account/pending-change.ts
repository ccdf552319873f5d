import type { QuotaAccount } from './quota-account.ts'

/** A change of an account, with callbacks that report its outcome. */
export interface PendingChange {
  /** Makes the change count only once. A change with a token is written alone. */
  readonly token?: string | undefined
  /** Whether the change is applied before the changes that wait already. Only without a token. Default: false. */
  readonly isFirst?: boolean
  /**
   * Changes an account whose ended leases are settled. It is called again with the new state if the account has
   * changed.
   */
  apply(account: QuotaAccount): void
  /** Called when the change has been applied. */
  done(): void
  /** Called if the token was used before. */
  used?(): void
  /** Called if the change failed or its outcome is unknown; `settled` then reports whether it was applied. */
  failed(error: unknown): void
  settled?(stands: boolean): void
}
