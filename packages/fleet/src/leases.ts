// Entry point for authors of lease ledgers and of backends that spend leased units.

export { SETTLED_MS } from './leases/lease-book.ts'
export {
  grantOf,
  isLeased,
  isStale,
  LEASE_GRACE_FACTOR,
  type LeaseGrant,
  type LeaseLedger,
  type LeaseRequest,
  type LeaseTerms,
  leaseMsOf,
  spentSince,
} from './leases/lease-ledger.ts'
export { LeaseTable } from './leases/lease-table.ts'
export type { LeasedCharge, LeasedCounter, LeasedKey } from './leases/leased-counter.ts'
export {
  LEASE_OPTIONS,
  type LeaseOptions,
  LeasingBackend,
  type LeasingDeps,
  leaseTermsOf,
} from './leases/leasing-backend.ts'
export { MemoryLedger } from './leases/memory-ledger.ts'
