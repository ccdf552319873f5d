import type { Edit } from '../extension.ts'

/** The edits that add `mapBackend` to `@sluice/fleet`, in the order of the list in ARCHITECTURE.md. */
export const edits: readonly Edit[] = [
  {
    path: 'packages/fleet/src/index.ts',
    after: "export { ClusterServer } from './cluster/cluster-server.ts'\n",
    insert: "export { type MapBackendOptions, mapBackend } from './map-backend.ts'\n",
  },
  {
    path: 'test/docs/bad-options.ts',
    after: "import { HashRing } from '@sluice/fleet/backend'\n",
    insert: "import { mapBackend } from '@sluice/fleet'\n",
  },
  {
    path: 'test/docs/bad-options.ts',
    after: 'export const badOptions: readonly BadOption[] = [\n',
    insert: "  ['a map without keys', 'SLUICE_BAD_OPTION', () => mapBackend({ maxKeys: 0 })],\n",
  },
  {
    path: 'docs/redis.md',
    after: '| `memoryBackend()` (default) | This process | No I/O | Exact in this process |\n',
    insert: '| `mapBackend()` | This process | No I/O | Exact, for few keys |\n',
  },
  {
    path: 'packages/fleet/README.md',
    after: '| **`@sluice/fleet`** | For applications with workers |\n',
    insert: '| `mapBackend(options)` | Backend that never evicts a key |\n',
  },
]
