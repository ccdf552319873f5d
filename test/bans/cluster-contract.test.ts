import { describe, test } from '@jest/globals'
import { clusterBackend } from '@sluice/fleet'
import { banContract, FakeClock } from '@sluice/testkit'
import { PairedPrimary } from '../cluster/paired.ts'

describe('clusterBackend of several workers', () =>
  banContract({ describe, test }, (processes) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const primary = new PairedPrimary({ fraction: 0.1, leaseMs: 2_000 }, clock)
    const backends = Array.from({ length: processes }, () => primary.worker())
    return {
      clock,
      backends,
      close: () => {
        for (const backend of backends) void backend.close?.()
      },
    }
  }))

describe('clusterBackend of a process without workers', () =>
  banContract({ describe, test }, (processes) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const backend = clusterBackend({ clock })
    return { clock, backends: Array.from({ length: processes }, () => backend), close: () => backend.close?.() }
  }))
