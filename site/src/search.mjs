import { tasks } from './navigation.mjs'

const TASKS = tasks()
/** Pages for those who change Sluice. */
const UNSEARCHED = /^(?:decisions\b|changelog|contributing)/

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
        fuzzy: 0.15,
        boost: { title: 4, titles: 3, text: 1 },
        // sent to the browser as text: it may use nothing from around it
        boostDocument(id) {
          if (/\/(?:decisions|internals|changelog|architecture|contributing)[/.]/.test(id)) return 0.1
          if (/\/reference[/.]/.test(id)) return 0.15
          if (/\/(?:packages|examples|benchmarks|comparison|reliability|glossary)[/.]/.test(id)) return 0.3
          return id.includes('#') && !/\/recipes/.test(id) ? 1 : 1.2
        },
      },
    },
  },
}
