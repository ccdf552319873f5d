import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, OptionDefaults } from 'typedoc'
import { moduleNames } from './module-names.mjs'
import { optionTables } from './option-tables.mjs'
import { pages } from './pages.mjs'

export const root = fileURLToPath(new URL('../..', import.meta.url))

const PAGES = [
  'docs/!(README).md',
  'docs/frameworks/*.md',
  'docs/internals/*.md',
  'packages/*/README.md',
  'bench/README.md',
  'examples/README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
]

/**
 * Writes the site to a folder. It works from any folder of any server for files, because all links are relative.
 * `withReference`: whether it contains the reference from source comments. Returns the number of warnings and errors.
 */
export async function writeSite(out, { withReference = true } = {}) {
  const sources = withReference ? exported() : []
  const app = await Application.bootstrap({
    name: 'Sluice',
    out,
    tsconfig: join(root, 'tsconfig.json'),
    entryPoints: sources.map(({ path }) => join(root, 'packages', path)),
    readme: join(root, 'docs/README.md'),
    projectDocuments: PAGES.map((page) => join(root, page)),
    excludeInternal: true,
    excludePrivate: true,
    // `npm run typecheck` has checked them
    skipErrorChecking: true,
    disableSources: true,
    includeHierarchySummary: false,
    navigation: { includeGroups: true },
    groupOrder: ['Modules', 'Guides', 'Frameworks', 'Packages', '*'],
    searchInComments: true,
    searchInDocuments: true,
    markdownLinkExternal: false,
    hideGenerator: true,
    highlightLanguages: [...OptionDefaults.highlightLanguages, 'sql'],
    logLevel: 'Warn',
  })
  pages(app, root)
  if (withReference) {
    moduleNames(app, new Map(sources.map(({ path, name }) => [path.replace(/\.ts$/, ''), name])))
    optionTables(app)
  }
  const project = await app.convert()
  if (!project) throw new Error('the sources could not be read')
  await app.generateOutputs(project)
  return app.logger.warningCount + app.logger.errorCount
}

/** The source of each entry point of the packages, from `packages/`, and the name that users import. */
function exported() {
  return readdirSync(join(root, 'packages')).flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
    return Object.entries(exports).flatMap(([entry, { '@sluice/source': source }]) =>
      source === undefined ? [] : { path: join(folder, source), name: join(name, entry) },
    )
  })
}
