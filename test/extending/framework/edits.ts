import type { Edit } from '../extension.ts'

/** The edits that add `@sluice/router`, in the order of the lists in ARCHITECTURE.md. */
export const edits: readonly Edit[] = [
  { path: 'package.json', after: '    "reflect-metadata": "0.2.2",\n', insert: '    "router": "2.3.0",\n' },
  {
    path: 'test/architecture.test.ts',
    after: "  '@sluice/koa': ['@sluice/node-http'],\n",
    insert: "  '@sluice/router': ['@sluice/node-http'],\n",
  },
  { path: 'test/architecture.test.ts', after: '/^(express|koa|fastify', insert: '|router' },
  { path: 'test/packaging/exports.test.ts', after: "  '@sluice/koa': 2,\n", insert: "  '@sluice/router': 2,\n" },
  { path: 'ARCHITECTURE.md', after: '| `express`, `koa`', insert: ', `router`' },
  {
    path: 'test/adapters/exports.test.ts',
    after: "import * as words from '@sluice/node-http/shared'\n",
    insert: "import * as router from '@sluice/router'\n",
  },
  { path: 'test/adapters/exports.test.ts', after: "  ['koa', koa, []],\n", insert: "  ['router', router, []],\n" },
  {
    path: 'test/leaks/frameworks/frameworks.ts',
    after: "import { koaWith } from './koa-framework.ts'\n",
    insert: "import { withRouter } from './router-framework.ts'\n",
  },
  {
    path: 'test/leaks/frameworks/frameworks.ts',
    after: "  'Koa 2': koaWith(Koa2),\n",
    insert: '  Router: withRouter,\n',
  },
  {
    path: 'test/decorators/frameworks.test.ts',
    after: "import Koa, { type Middleware } from 'koa'\n",
    insert: "import Router from 'router'\n",
  },
  {
    path: 'test/decorators/frameworks.test.ts',
    after: "import type * as NodeHttpControllers from './controllers/node-http.ts'\n",
    insert: "import type * as RouterControllers from './controllers/router.ts'\n",
  },
  {
    path: 'test/decorators/frameworks.test.ts',
    after: 'const frameworks: Readonly<Record<string, Listen>> = {\n',
    insert: `  Router: async (compiled, clock, gate) => {
    const { routerControllers } = await compiled.load<typeof RouterControllers>('router')
    const users: Routes<Router.RequestHandler> = new (routerControllers(clock, gate))()
    const router = Router()
    for (const path of ['list', 'work', 'slow', 'fail'] as const) router.get(\`/\${path}\`, users[path].bind(users))
    return (req, res) => router(req, res, () => res.writeHead(500).end())
  },
`,
  },
  {
    path: 'test/packaging/consumers.test.ts',
    after: "  'koa-commonjs.cjs',\n",
    insert: "  'router-esm.mjs',\n  'router-commonjs.cjs',\n",
  },
  { path: 'test/packaging/consumers.test.ts', after: "const typed = ['express', ", insert: "'router', " },
  {
    path: 'test/packaging/consumers/tsconfig.json',
    after: '    "typed/express.cts",\n',
    insert: '    "typed/router.mts",\n    "typed/router.cts",\n',
  },
  {
    path: 'docs/README.md',
    after: '| Koa 2 and 3 | [Koa](frameworks/koa.md) |\n',
    insert: '| router 2 | [router](frameworks/router.md) |\n',
  },
  {
    path: 'README.md',
    after: '| Koa 2 or 3 | `@sluice/koa` | [Koa](docs/frameworks/koa.md) |\n',
    insert: '| router 2 | `@sluice/router` | [router](docs/frameworks/router.md) |\n',
  },
]
