import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ConsumerProject } from '../consumer-project.ts'
import { adapters, bundleApp, bundlers, expectOnAllRuntimes, limited, statusesOf } from './bundled-app.ts'

let project: ConsumerProject

beforeAll(async () => {
  project = await ConsumerProject.install()
}, 400_000)

afterAll(() => project?.[Symbol.dispose]())

const cells = bundlers.flatMap((bundler) =>
  (['esm', 'cjs'] as const).flatMap((format) => adapters.map((adapter) => ({ bundler, format, adapter }))),
)

test.each(cells)('an app with @sluice/$adapter alone, bundled by $bundler as $format, is limited', async (cell) => {
  const { bundler, format, adapter } = cell
  const bundle = await bundleApp({ folder: project.folder, bundler, format, names: [adapter] })
  expect(await statusesOf(bundle, project.folder, [process.execPath])).toEqual(limited([adapter]))
})

test.each(['node', 'neutral', 'browser'] as const)(
  'an ES module bundle of esbuild for the platform %s runs on Node.js, Deno and Bun',
  (platform) => expectOnAllRuntimes(project.folder, platform),
)
