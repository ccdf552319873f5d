import type { FleetNode } from '@sluice/testkit'

/** Number of keys that a node has reported, from its own metrics. */
export function reportedKeys({ backend }: FleetNode): number {
  let reported = 0
  for (const { name, samples } of backend.metrics()) {
    if (name !== 'sluice_global_records_total') continue
    for (const sample of samples) if ('value' in sample) reported += sample.value
  }
  return reported
}
