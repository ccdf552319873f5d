import { tasks } from './navigation.mjs'

const TASKS = tasks()
/** Lists, and pages for those who change Sluice. */
const UNSEARCHED = /^(?:index|guides|changelog|contributing)\.|^decisions\b/

/** The local search of VitePress. Guides rank before READMEs, and both before the reference and the decisions. */
export const search = {
  provider: 'local',
  options: {
    _render(text, env, md) {
      if (UNSEARCHED.test(env.relativePath)) return ''
      const { highlight } = md.options
      md.options.highlight = (code) => `<pre>${md.utils.escapeHtml(code)}</pre>`
      const whole = md.render(text, env)
      md.options.highlight = highlight
      // names and their meaning; tables of options would rank by their number of words
      const html = env.relativePath.startsWith('reference') ? whole.replace(/<(table|pre)[\s\S]*?<\/\1>/g, '') : whole
      const words = TASKS.get(env.relativePath)?.join('. ')
      // behind the heading, so that the words belong to the first section of the page
      return words === undefined ? html : html.replace('</h1>', `</h1><p>${md.utils.escapeHtml(words)}</p>`)
    },
    miniSearch: {
      searchOptions: {
        prefix: true,
        // sent to the browser as text: functions may use nothing from around them
        fuzzy: (term) => (term.length > 5 ? 0.2 : false),
        combineWith: 'AND',
        boost: { title: 4, titles: 2, text: 1 },
        boostDocument(id, _term, { titles }) {
          const [, rank] = [
            [/\/(?:internals|architecture|security|migrating)[/.]/, 0.1],
            [/\/reference[/.]/, 0.15],
            [/\/(?:packages|examples|benchmarks|comparison|reliability|glossary|runtimes|guides)[/.]/, 0.3],
            [/\/(?:errors|testing|faq|sketch|global)/, 0.4],
            [/./, 1],
          ].find(([pages]) => pages.test(id))
          // the first section of a page has its title and its tasks
          return titles.length === 0 ? rank * 2.5 : rank
        },
      },
    },
  },
}
