import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { sidebars } from '../src/navigation.mjs'
import { BASE } from '../src/relative-base.mjs'
import { search } from '../src/search.mjs'

const inSite = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0b5fa5" d="M2 2h3v12H2zm9 0h3v12h-3zM6 6h4v2H6zm0 4h4v2H6z"/></svg>',
)}`

export default defineConfig({
  title: 'Sluice',
  description: 'Rate limits, in-flight caps, quotas and usage counters for Node.js servers',
  lang: 'en',
  base: BASE,
  head: [['link', { rel: 'icon', href: ICON }]],
  srcDir: inSite('.artifacts/pages'),
  cacheDir: inSite('.artifacts/cache'),
  // the demos of the examples
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    // as GitHub, because the pages are read there too
    anchor: { slugify: githubSlug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    image: { lazyLoading: true },
  },
  vite: { build: { chunkSizeWarningLimit: 2_000 }, define: { 'import.meta.env.BASE_URL': 'globalThis.siteBase' } },
  themeConfig: {
    search,
    outline: { level: [2, 3], label: 'On this page' },
    nav: [
      { text: 'Guides', link: '/guides' },
      { text: 'Reference', link: '/reference' },
      { text: 'Packages', link: '/packages' },
      { text: 'Errors', link: '/errors' },
      { text: 'Benchmarks', link: '/benchmarks' },
    ],
    sidebar: sidebars(),
    socialLinks: [{ icon: 'github', link: 'https://github.com/sluicejs/sluice' }],
  },
})

function githubSlug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}
