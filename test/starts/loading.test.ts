import { join, relative } from 'node:path'
import { expect, test } from '@jest/globals'
import { packages, root } from '../repository.ts'
import { startNode } from '../services/processes/child-node.ts'

// in environments such as Jest's and jsdom's, what a mere import starts or needs is reported, or missing
test('loading every entry point of every package uses no global of a host and leaves nothing', async () => {
  const sources = packages.flatMap(({ manifest, folder }) =>
    Object.values(manifest.exports).flatMap((entry) => {
      const source = (entry as { readonly '@sluice/source'?: string })['@sluice/source']
      return source ? [relative(root, join(folder, source))] : []
    }),
  )
  const child = startNode<typeof import('./children/loading.ts')>('starts/children/loading.ts')
  const loading = await child.call('load', sources)
  await child.stop()
  expect(loading).toEqual({ globals: [], resources: [], listeners: [] })
  expect(sources.length).toBeGreaterThan(40)
})
